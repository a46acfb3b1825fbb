#pragma once

#include <functional>

/// The order of the calls that capture a CUDA graph. The calls themselves are behind an interface, so that a test
/// without a GPU can check the order and the mode.
namespace trainer {

/// Which calls of other threads invalidate a capture.
enum class CaptureMode {
    Global,     ///< CUDA's default: any call that may synchronize, on any thread
    ThreadLocal ///< only those of the capturing thread
};

/// The CUDA and LibTorch calls that a capture needs. Functions throw std::exception if a call fails.
class CaptureCalls {
public:
    virtual ~CaptureCalls() = default;
    /// Waits for the captured stream.
    virtual void synchronize() = 0;
    virtual void emptyDeviceCache() = 0;
    virtual void emptyPinnedCache() = 0;
    virtual void begin(CaptureMode mode) = 0;
    virtual void end() = 0;
    /// After a failure between begin() and the end of end(): restores the allocators and the generator.
    virtual void abandon() noexcept = 0;
};

// cuDNN, cuBLAS and the allocator initialise themselves in these runs; otherwise the graph would record their set-up.
constexpr int kWarmupRuns = 3;

/// Runs `work` a few times, then captures it. Rethrows exceptions of `work` and of the calls.
inline void captureGraph(CaptureCalls& calls, const std::function<void()>& work)
{
    for (int run = 0; run < kWarmupRuns; ++run)
        work();
    calls.synchronize();
    // The graph's pool takes memory from the driver, not from the cache: memory that the earlier runs left in the cache
    // would be held twice (torch.cuda.graph empties both caches too).
    calls.emptyDeviceCache();
    calls.emptyPinnedCache();
    try {
        // In the default mode, any call of another thread that may synchronize (the loader pins memory, CUPTI's client
        // flushes) would invalidate the capture.
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
