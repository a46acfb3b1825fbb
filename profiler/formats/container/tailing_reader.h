#pragma once

#include "profiler/formats/container/sealed_reader.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <filesystem>
#include <memory>

namespace profiler::container {

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

} // namespace profiler::container
