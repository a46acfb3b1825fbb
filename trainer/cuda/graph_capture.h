#pragma once

#include <functional>

/// The order of the calls with which a CUDA graph is captured. The calls themselves are behind an interface, so that a
/// test without a GPU can check the order and the mode.
namespace trainer {

/// Which calls of other threads break a capture.
enum class CaptureMode {
    Global,     ///< CUDA's default: any call that may synchronize, on any thread
    ThreadLocal ///< only those of the capturing thread
};

/// What a capture asks of CUDA and LibTorch. Functions throw std::exception where a call fails.
class CaptureCalls {
public:
    virtual ~CaptureCalls() = default;
    /// Waits for the stream that is captured.
    virtual void synchronize() = 0;
    virtual void emptyDeviceCache() = 0;
    virtual void emptyPinnedCache() = 0;
    virtual void begin(CaptureMode mode) = 0;
    virtual void end() = 0;
    /// After a failure between begin() and the end of end(): leaves the allocators and the generator as they were.
    virtual void abandon() noexcept = 0;
};

// cuDNN, cuBLAS and the allocator settle in these; recorded before, their set-up would be part of the graph.
constexpr int kWarmupRuns = 3;

/// Runs `work` a few times, then captures it. Throws what `work` or a call throws.
inline void captureGraph(CaptureCalls& calls, const std::function<void()>& work)
{
    for (int run = 0; run < kWarmupRuns; ++run)
        work();
    calls.synchronize();
    // The graph's pool takes memory from the driver, not from the cache: what the runs before left cached would be
    // held twice (torch.cuda.graph empties both caches too).
    calls.emptyDeviceCache();
    calls.emptyPinnedCache();
    try {
        // In the default mode a call of any other thread that may synchronize (the loader pins memory, CUPTI's
        // client flushes) would break the capture.
        calls.begin(CaptureMode::ThreadLocal);
        work();
        calls.end();
    } catch (...) {
        calls.abandon();
        throw;
    }
    calls.synchronize();
}

} // namespace trainer
