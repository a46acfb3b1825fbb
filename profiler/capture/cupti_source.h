#pragma once

#include "profiler/capture/capture_level.h"
#include "profiler/capture/recorder.h"
#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace profiler::capture {

struct CuptiApi;
/// The CUPTI library that the program is linked to.
const CuptiApi& systemCupti();

/// Always: kernels, copies, memsets, devices; a CUDA graph's launch as a whole. Standard: also runtime calls,
/// synchronization, CUDA events, overheads, and each kernel of a graph. Full: also all driver calls, and device memory
/// as it is allocated and freed.
using CuptiLevel = CaptureLevel;

struct CuptiOptions {
    CuptiLevel level = CuptiLevel::Standard;
    /// A buffer is handed over when it is full, or its records are all complete at a flush. Each thread that calls CUDA
    /// fills its own.
    std::size_t bufferBytes = 256 << 10;
    /// Buffers made at the start. More are made when these are all in use, up to maxBuffers; then CUPTI drops and
    /// counts.
    std::size_t buffers = 8;
    std::size_t maxBuffers = 256; ///< 64 MiB of 256 KiB each
    /// How often a thread of the source has buffers handed over whose records are complete, full or not: about what a
    /// kill loses and a live view lags. 0: never, and no thread.
    Nanoseconds flushEvery = std::chrono::milliseconds(500);
};

/// GPU work, runtime calls and their waits, from CUPTI into a recorder. One at a time in a process. Its methods are
/// called by one thread; CUPTI calls back on any.
class CuptiSource {
public:
    /// Call before the program's first CUDA call. Fails where another tool holds CUPTI (the Error names it), or where
    /// there is no driver, no GPU or no support; the recording goes on without the GPU then.
    /// @param recorder, api  outlive the source
    static Result<std::unique_ptr<CuptiSource>> start(Recorder& recorder, const CuptiApi& api,
                                                      const CuptiOptions& options);
    /// stop(), if that was not called.
    ~CuptiSource();
    CuptiSource(const CuptiSource&) = delete;
    CuptiSource& operator=(const CuptiSource&) = delete;

    /// Records more or less from about now on: for windows of a few steps. What was recorded so far is flushed. Returns
    /// at once: the source's own thread makes the calls, which take up to some milliseconds; without that thread
    /// (flushEvery is 0) they are made here. An error of that thread is returned by stop().
    Result<void> setLevel(CuptiLevel level);
    /// Hands over the buffers whose records are complete. Between steps or windows; blocks for as long as decoding
    /// takes.
    Result<void> flush();
    /// Ends the recording: hands over all buffers, even those with incomplete records. Synchronize the devices before.
    /// CUPTI stays loaded and idle, since taking it down while the program runs is not safe. Returns the first error
    /// there was.
    Result<void> stop();

    /// What could not be recorded and why, one sentence each: kinds of records that this GPU or driver does not give.
    [[nodiscard]] std::vector<Message> notes() const;

private:
    CuptiSource();
    struct State;
    State* m = nullptr; ///< lives on after the source: CUPTI may hold buffers of its until the process ends
};

} // namespace profiler::capture
