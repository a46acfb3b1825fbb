#include "trainer/parallel/cuda_plugin.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace trainer {

namespace {

// cuDNN, cuBLAS and the allocator settle in these; recorded before, their set-up would be part of the graph.
constexpr int kWarmupRuns = 3;

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
        m_graph.capture_begin();
        try {
            work();
        } catch (...) {
            endFailedCapture();
            throw;
        }
        m_graph.capture_end();
        apart.synchronize();
    }
    void replay() override { m_graph.replay(); }

private:
    // The capture is broken already: what ending it says is of no interest.
    void endFailedCapture() noexcept
    {
        try {
            m_graph.capture_end();
        } catch (const std::exception&) {
            cudaGetLastError();
        }
    }
    at::cuda::CUDAGraph m_graph;
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
