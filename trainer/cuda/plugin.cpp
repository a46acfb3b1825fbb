#include "trainer/parallel/cuda_plugin.h"

#include <ATen/Context.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <mutex>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace trainer {

namespace {

// cuDNN, cuBLAS and the allocator settle in these; recorded before, their set-up would be part of the graph.
constexpr int kWarmupRuns = 3;

// Of an object that may be broken: what it says of that is of no interest.
template <class Action>
void attempt(const Action& action) noexcept
{
    try {
        action();
    } catch (const std::exception&) {
        cudaGetLastError();
    }
}

class Graph final : public CudaGraph {
public:
    void record(const std::function<void()>& work) override
    {
        const auto apart = c10::cuda::getStreamFromPool();
        const auto before = c10::cuda::getCurrentCUDAStream();
        before.synchronize();
        const c10::cuda::CUDAStreamGuard guard(apart);
        for (int run = 0; run < kWarmupRuns; ++run)
            work();
        apart.synchronize();
        // The graph's pool takes memory from the driver, not from the cache: what the runs before left cached would be
        // held twice (torch.cuda.graph empties both caches too).
        c10::cuda::CUDACachingAllocator::emptyCache();
        at::getHostAllocator(at::kCUDA)->empty_cache();
        const c10::MempoolId_t pool = at::cuda::graph_pool_handle();
        try {
            // In the default mode a call of any other thread that may synchronize (the loader pins memory, CUPTI's
            // client flushes) would break the capture.
            m_graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
            work();
            m_graph.capture_end();
        } catch (...) {
            endFailedCapture(apart.device_index(), pool);
            throw;
        }
        apart.synchronize();
    }
    void replay() override { m_graph.replay(); }

private:
    struct Captured final : at::cuda::CUDAGraph {
        [[nodiscard]] bool hasEnded() const { return capture_ended_; }
    };

    // capture_end() throws of a capture that is broken before it has the allocators leave the graph's pool and the
    // generator its counting, and the graph's destructor does neither: without a graph, the next random number would
    // fail and memory go to a pool that nothing gives back.
    void endFailedCapture(c10::DeviceIndex device, c10::MempoolId_t pool) noexcept
    {
        attempt([&] { m_graph.capture_end(); });
        if (m_graph.hasEnded())
            return;
        attempt([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(device, pool); });
        attempt([&] { c10::cuda::CUDACachingAllocator::releasePool(device, pool); });
        attempt([&] { at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(pool); });
        attempt([&] { at::getHostAllocator(at::kCUDA)->release_pool(pool); });
        attempt([&] {
            at::Generator generator = at::globalContext().defaultGenerator({at::kCUDA, device});
            const std::lock_guard lock(generator.mutex());
            generator.graphsafe_set_state(
                generator.clone()); // the same numbers to come, in a state that counts nothing
        });
    }
    Captured m_graph;
};

std::unique_ptr<CudaGraph> makeGraph()
{
    return std::make_unique<Graph>();
}

c10::intrusive_ptr<c10d::Backend> makeNccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                           std::chrono::milliseconds timeout)
{
    const auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = timeout;
    return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
}

} // namespace

} // namespace trainer

extern "C" const trainer::CudaPlugin* stepscope_cuda_plugin()
{
    static const trainer::CudaPlugin plugin{trainer::makeGraph, trainer::makeNccl};
    return &plugin;
}
