#pragma once

#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>

namespace profiler::wire {

/// Reads one of our trace files, whole or while it grows. Not thread-safe; one owner.
class TailingReader {
public:
    /// Fails when the file is missing, is not ours, or is of a newer version.
    static Result<std::unique_ptr<TailingReader>> open(const std::filesystem::path& path);
    ~TailingReader();

    /// Takes in what was appended since the last call. Returns true when something new came.
    Result<bool> poll();
    /// True once the End frame was read.
    [[nodiscard]] bool ended() const;
    /// A snapshot of what was read so far; cheap, shares blocks with earlier ones. Its captureStats().live is true
    /// until ended() or cut().
    [[nodiscard]] std::shared_ptr<const Trace> snapshot();
    /// The writer is gone without an End frame: takes in what the ring file beside it still holds, marks the trace as
    /// cut and says in a note what is missing.
    void closeAsCut();

private:
    friend Result<std::shared_ptr<const Trace>>
    readTrace(const std::filesystem::path& path, const std::function<void(double)>& progress, std::stop_token stop);
    TailingReader();
    struct State;
    std::unique_ptr<State> m;
};

/// Opens a whole trace file. A file that was cut, has damaged frames or lacks its end opens with what can be read; the
/// trace's captureStats() say what is missing and where (byte offset).
/// @param progress  called with the share read, [0, 1]; may be empty
Result<std::shared_ptr<const Trace>> readTrace(const std::filesystem::path& path,
                                               const std::function<void(double)>& progress = {},
                                               std::stop_token stop = {});

} // namespace profiler::wire
