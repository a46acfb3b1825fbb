#pragma once

#include "profiler/formats/container/trace_file.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>

/// Reading trace files: live ones while they grow, and sealed ones block by block.
namespace profiler::container {

/// How to read a trace file. Readers of live files use one thread and ignore the memory budget.
struct ReadOptions {
    std::function<void(double)> progress; ///< receives the share read, [0, 1], on the caller's thread; may be empty
    std::stop_token stop;
    unsigned threads = 0; ///< threads that decode; 0: one per core
    /// Keep the blocks of a sealed file in the file, whatever its size, and do not read them to check them: each is
    /// checked when it is read.
    bool onDemand = false;
    std::uint64_t memoryBudget = 0; ///< bytes; larger traces keep their blocks in the file. 0: half of the memory
    /// Receives, on the caller's thread, the whole trace of a sealed file before its blocks are decoded, which are then
    /// read on demand; or what was read of a long live file so far, which is not marked live. May be empty.
    std::function<void(std::shared_ptr<const Trace>)> preview;
    std::chrono::milliseconds previewAfter{250}; ///< live files: time until the first call; then four times as long
};

/// Describes how much GPU work a truncated trace lacks: the time between the end of the last recorded work and the last
/// event of the trace, on the GPU where this gap is longest. Empty if the trace has no GPU work.
Message deviceLoss(const Trace& trace);

/// Reads a Stepscope trace, whole or while it grows. A sealed file has ended when it is opened. Not thread-safe.
class TailingReader {
public:
    /// Fails if the file is missing, is not a Stepscope trace, or has a newer version.
    static Result<std::unique_ptr<TailingReader>> open(const std::filesystem::path& path);
    ~TailingReader();

    /// Reads what was appended since the last call. Returns true if there was something new.
    Result<bool> poll();
    /// True once the End frame was read.
    [[nodiscard]] bool ended() const;
    /// A snapshot of what was read so far; cheap, because it shares blocks with earlier ones. Its captureStats().live
    /// is true until ended() or cut().
    [[nodiscard]] std::shared_ptr<const Trace> snapshot();
    /// Call if the writer is gone without an End frame. Reads the rest from the ring file, marks the trace as cut, and
    /// adds a note about what is missing.
    void closeAsCut();

private:
    friend Result<std::shared_ptr<const Trace>> readTrace(const std::filesystem::path& path,
                                                          const ReadOptions& options);
    TailingReader();
    struct State;
    std::unique_ptr<State> m;
};

/// Opens a whole trace file, live or sealed, of any version. If the file is truncated, damaged or not finished, returns
/// what can be read. The trace's captureStats() describe what is missing and where (byte offset). Fails if the file is
/// not a Stepscope trace, if a newer version wrote it, or if the names and tracks of a sealed file are damaged.
Result<std::shared_ptr<const Trace>> readTrace(const std::filesystem::path& path, const ReadOptions& options = {});

/// Reads a sealed trace file whose bytes may come from another machine: its names, tracks and overview at once, and
/// everything else on demand. Fails as readTrace(), and if the file is not sealed.
Result<std::shared_ptr<const Trace>> readSealedOnDemand(InputFile file, const std::stop_token& stop);

} // namespace profiler::container
