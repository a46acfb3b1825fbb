#pragma once

#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>

namespace profiler::wire {

/// How to show a long file while the rest of it is being read.
struct Preview {
    /// Receives what was read so far, on the reader's thread; the trace is not marked live. May be empty.
    std::function<void(std::shared_ptr<const Trace>)> show;
    std::chrono::milliseconds after{250}; ///< time until the first call; later intervals are four times as long
};

/// Reads a Stepscope recording, whole or while it grows. Not thread-safe.
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
                                                          const std::function<void(double)>& progress,
                                                          std::stop_token stop, const Preview& preview);
    TailingReader();
    struct State;
    std::unique_ptr<State> m;
};

/// Opens a whole trace file. If the file is truncated, damaged or not finished, returns what can be read. The trace's
/// captureStats() describe what is missing and where (byte offset).
/// @param progress  receives the share read, [0, 1]; may be empty
Result<std::shared_ptr<const Trace>> readTrace(const std::filesystem::path& path,
                                               const std::function<void(double)>& progress = {},
                                               std::stop_token stop = {}, const Preview& preview = {});

} // namespace profiler::wire
