#pragma once

#include "profiler/capture/recorder.h"
#include "profiler/capture/recording_scope.h"
#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace profiler::capture {

struct CuptiApi;
/// The CUPTI library that the program is linked with.
const CuptiApi& systemCupti();

/// Always: kernels, copies, memsets, devices; the launch of a CUDA graph as a whole. Standard: also runtime calls,
/// synchronization, CUDA events, overheads, and each kernel of a graph. Full: also all driver calls, and allocations
/// and frees of device memory.
using CuptiLevel = CaptureLevel;

struct CuptiOptions {
    CuptiLevel level = CuptiLevel::Standard;
    /// A buffer is returned when it is full, or if all its records are complete during a flush. Each thread that calls
    /// CUDA fills its own buffer.
    std::size_t bufferBytes = 256 << 10;
    /// Number of buffers allocated at the start. More are allocated if all of these are in use, up to maxBuffers;
    /// beyond that, CUPTI drops records and counts them.
    std::size_t buffers = 8;
    std::size_t maxBuffers = 256; ///< 64 MiB of 256 KiB each
    /// How often a thread of the source flushes buffers whose records are complete, full or not: about as much as is
    /// lost if the process is killed, and the delay of a live view. 0 for never, and no thread.
    Nanoseconds flushEvery = std::chrono::milliseconds(500);
};

/// Records GPU work, runtime calls and waits from CUPTI into a recorder. Only one may exist in a process. One thread
/// calls its methods; CUPTI calls back on any thread.
class CuptiSource {
public:
    /// Call before the program's first CUDA call. Fails if another tool uses CUPTI (the Error names it), or if there is
    /// no driver, no GPU or no support; the recording can continue without the GPU.
    /// @param recorder, api  must outlive the source
    static Result<std::unique_ptr<CuptiSource>> start(Recorder& recorder, const CuptiApi& api,
                                                      const CuptiOptions& options);
    /// Calls stop() if it has not been called.
    ~CuptiSource();
    CuptiSource(const CuptiSource&) = delete;
    CuptiSource& operator=(const CuptiSource&) = delete;

    /// Changes the level soon after the call; for recording windows of a few steps. Records so far are flushed. Returns
    /// at once, because the source's own thread makes the calls, which take up to several milliseconds; without that
    /// thread (flushEvery is 0), they are made here. An error of that thread is returned by stop().
    Result<void> setLevel(CuptiLevel level);
    /// Flushes the buffers whose records are complete. Call it between steps or windows; blocks while decoding.
    Result<void> flush();
    /// Ends the recording: flushes all buffers, even those with incomplete records. Synchronize the devices before the
    /// call. CUPTI stays loaded but idle, because it cannot be shut down safely while the program runs. Returns the
    /// first error that occurred.
    Result<void> stop();

    /// What could not be recorded and why, one sentence each: kinds of records that this GPU or driver does not
    /// provide.
    [[nodiscard]] std::vector<Message> notes() const;

private:
    CuptiSource();
    struct State;
    State* m = nullptr; ///< outlives the source, because CUPTI may keep its buffers until the process ends
};

} // namespace profiler::capture
