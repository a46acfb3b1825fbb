#pragma once

#include "trainer/config/protocol.h"
#include "trainer/memory/device_batch.h"
#include "trainer/parallel/cuda_plugin.h"
#include "trainer/workloads/parts/network.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace trainer {

class Network;

/// Forward and backward pass of a step as a CUDA graph: recorded once, then launched as a whole. The optimizer is not
/// part of the graph because its learning rate changes. Single-threaded.
class CudaGraphStep {
public:
    /// The result of a step; the next step overwrites its tensors.
    struct Result {
        at::Tensor loss;
        Pass pass;
    };
    using Work = std::function<Result(const BatchTensors& batch)>;

    using MakeGraph = std::function<std::unique_ptr<CudaGraph>()>;

    /// @param work  forward and backward pass; it must create the gradients
    /// @param makeGraph  called at recording time; may throw
    CudaGraphStep(
        Network& network, Work work, MakeGraph makeGraph = [] { return cudaPlugin().makeGraph(); });
    ~CudaGraphStep();

    /// Runs a step with the graph. Records it first once the batch is as large as any before, because the last batch of
    /// an epoch may be smaller. The parameters hold the gradients afterwards.
    /// @return nullopt: run the step without the graph (first steps, another shape, or a graph that failed)
    std::optional<Result> run(const BatchTensors& batch);
    /// Returns once why there is no graph. A failed recording leaves the network unchanged and holds no memory.
    std::optional<config::protocol::Notice> takeFailure();
    /// Whether no step used the graph, although nothing failed.
    [[nodiscard]] bool isUnused() const { return !m_failed && m_steps == 0; }

private:
    void record(const BatchTensors& batch);
    void dropGradients();
    [[nodiscard]] bool sameShapes(const BatchTensors& batch) const;

    Network& m_network;
    Work m_work;
    MakeGraph m_makeGraph;
    std::vector<at::Tensor> m_parameters, m_gradients;
    std::unique_ptr<CudaGraph> m_graph; // null until recorded
    BatchTensors m_batch;               // the input memory of the graph
    Result m_result;
    int m_stepsBefore = 0;
    std::int64_t m_largest = 0, m_steps = 0; // largest batch in samples; steps run by the graph
    bool m_failed = false;
    std::optional<config::protocol::Notice> m_failure;
};

} // namespace trainer
