#pragma once

#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>

namespace profiler::wire {

/// What is shown of a long file while the rest of it is read.
struct Preview {
    /// Called on the reader's thread with what was read so far, which does not count as live; may be empty.
    std::function<void(std::shared_ptr<const Trace>)> show;
    std::chrono::milliseconds after{250}; ///< of reading, until the first call; later ones take four times as long
};

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
    friend Result<std::shared_ptr<const Trace>> readTrace(const std::filesystem::path& path,
                                                          const std::function<void(double)>& progress,
                                                          std::stop_token stop, const Preview& preview);
    TailingReader();
    struct State;
    std::unique_ptr<State> m;
};

/// Opens a whole trace file. A file that was cut, has damaged frames or lacks its end opens with what can be read; the
/// trace's captureStats() say what is missing and where (byte offset).
/// @param progress  called with the share read, [0, 1]; may be empty
Result<std::shared_ptr<const Trace>> readTrace(const std::filesystem::path& path,
                                               const std::function<void(double)>& progress = {},
                                               std::stop_token stop = {}, const Preview& preview = {});

} // namespace profiler::wire
