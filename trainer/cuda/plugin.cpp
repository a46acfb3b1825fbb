#include "trainer/cuda/graph_capture.h"
#include "trainer/parallel/cuda_plugin.h"

#include <ATen/Context.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <mutex>
#include <optional>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace trainer {

namespace {

// For cleaning up an object that may be broken: its exceptions are ignored.
template <class Action>
void attempt(const Action& action) noexcept
{
    try {
        action();
    } catch (const std::exception&) {
        cudaGetLastError();
    }
}

class Graph final : public CudaGraph, private CaptureCalls {
public:
    void record(const std::function<void()>& work) override
    {
        m_stream = c10::cuda::getStreamFromPool();
        c10::cuda::getCurrentCUDAStream().synchronize();
        const c10::cuda::CUDAStreamGuard guard(*m_stream);
        m_pool = at::cuda::graph_pool_handle();
        captureGraph(*this, work);
    }
    void replay() override { m_graph.replay(); }

private:
    struct Captured final : at::cuda::CUDAGraph {
        [[nodiscard]] bool hasEnded() const { return capture_ended_; }
    };

    void synchronize() override { m_stream->synchronize(); }
    void emptyDeviceCache() override { c10::cuda::CUDACachingAllocator::emptyCache(); }
    void emptyPinnedCache() override { at::getHostAllocator(at::kCUDA)->empty_cache(); }
    void begin(CaptureMode mode) override
    {
        m_graph.capture_begin(m_pool, mode == CaptureMode::ThreadLocal ? cudaStreamCaptureModeThreadLocal
                                                                       : cudaStreamCaptureModeGlobal);
    }
    void end() override { m_graph.capture_end(); }

    // If the capture is broken, capture_end() throws before the allocators leave the graph's pool and the generator
    // leaves its capture mode, and the graph's destructor does neither: without this function, the next random number
    // would fail, and memory would go to a pool that is never freed.
    void abandon() noexcept override
    {
        const c10::DeviceIndex device = m_stream->device_index();
        attempt([&] { m_graph.capture_end(); });
        if (m_graph.hasEnded())
            return;
        attempt([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(device, m_pool); });
        attempt([&] { c10::cuda::CUDACachingAllocator::releasePool(device, m_pool); });
        attempt([&] { at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(m_pool); });
        attempt([&] { at::getHostAllocator(at::kCUDA)->release_pool(m_pool); });
        attempt([&] {
            at::Generator generator = at::globalContext().defaultGenerator({at::kCUDA, device});
            const std::lock_guard lock(generator.mutex());
            generator.graphsafe_set_state(
                generator.clone()); // the same future numbers, in a state that is not in capture mode
        });
    }

    std::optional<c10::cuda::CUDAStream> m_stream; ///< the stream of the capture
    c10::MempoolId_t m_pool{};
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
