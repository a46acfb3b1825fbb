#pragma once

#include "trainer/config/protocol.h"
#include "trainer/memory/batch_memory.h"
#include "trainer/models/objective.h"
#include "trainer/parallel/cuda_plugin.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace trainer {

class Network;

/// Forward and backward pass of a step as a CUDA graph: recorded once, then started as a whole. The optimizer stays
/// outside, since its learning rate changes. One thread.
class CudaGraphStep {
public:
    /// What a step gives; its tensors are overwritten by the next.
    struct Result {
        at::Tensor loss;
        Pass pass;
    };
    using Work = std::function<Result(const BatchTensors& batch)>;

    using MakeGraph = std::function<std::unique_ptr<CudaGraph>()>;

    /// @param work  forward and backward into gradients that are not there yet
    /// @param makeGraph  called when it is recorded; may throw
    CudaGraphStep(
        Network& network, Work work, MakeGraph makeGraph = [] { return cudaPlugin().makeGraph(); });
    ~CudaGraphStep();

    /// Runs a step by the graph, recording it first when it is time: at a batch as large as any before, since the last
    /// of an epoch may be smaller. The gradients are in the parameters afterwards.
    /// @return nullopt: it must be done without (the first steps, another shape, a graph that failed)
    std::optional<Result> run(const BatchTensors& batch);
    /// Why there is no graph, once. A recording that failed leaves the network as it was, and holds no memory.
    std::optional<config::protocol::Notice> takeFailure();
    /// Whether no step was run by it, although nothing failed.
    [[nodiscard]] bool isUnused() const { return !m_failed && m_steps == 0; }
    /// Seconds that recording took; 0 before.
    [[nodiscard]] double recordSeconds() const { return m_recordSeconds; }

private:
    void record(const BatchTensors& batch);
    void dropGradients();
    [[nodiscard]] bool sameShapes(const BatchTensors& batch) const;

    Network& m_network;
    Work m_work;
    MakeGraph m_makeGraph;
    std::vector<at::Tensor> m_parameters, m_gradients;
    std::unique_ptr<CudaGraph> m_graph; // null until recorded
    BatchTensors m_batch;               // the memory that the graph reads
    Result m_result;
    int m_stepsBefore = 0;
    std::int64_t m_largest = 0, m_steps = 0; // samples of a batch; steps by the graph
    bool m_failed = false;
    std::optional<config::protocol::Notice> m_failure;
    double m_recordSeconds = 0;
};

} // namespace trainer
