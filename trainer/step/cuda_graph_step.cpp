#include "trainer/step/cuda_graph_step.h"

#include "trainer/session/failure.h"
#include "trainer/workloads/parts/network.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <utility>

namespace trainer {

namespace {
// After these steps, one-time work (allocations, choices of algorithms) is done.
constexpr int kStepsBefore = 3;
} // namespace

CudaGraphStep::CudaGraphStep(Network& network, Work work, MakeGraph makeGraph)
    : m_network(network), m_work(std::move(work)), m_makeGraph(std::move(makeGraph)), m_parameters(network.parameters())
{
}

CudaGraphStep::~CudaGraphStep() = default;

bool CudaGraphStep::sameShapes(const BatchTensors& batch) const
{
    if (batch.inputs.size() != m_batch.inputs.size() || batch.target.sizes() != m_batch.target.sizes())
        return false;
    for (std::size_t i = 0; i < batch.inputs.size(); ++i)
        if (batch.inputs[i].sizes() != m_batch.inputs[i].sizes())
            return false;
    return true;
}

void CudaGraphStep::dropGradients()
{
    for (at::Tensor& parameter : m_parameters)
        parameter.mutable_grad().reset();
}

void CudaGraphStep::record(const BatchTensors& batch)
{
    m_batch.count = batch.count;
    for (const at::Tensor& input : batch.inputs)
        m_batch.inputs.push_back(input.clone());
    m_batch.target = batch.target.clone();
    // The warm-up runs before the recording would update batch norms' statistics repeatedly with the same batch.
    BuffersBefore statistics(m_network);
    auto graph = m_makeGraph();
    try {
        graph->record([this] {
            dropGradients();
            m_result = m_work(m_batch);
        });
    } catch (...) {
        statistics.restore();
        throw;
    }
    statistics.restore();
    for (const at::Tensor& parameter : m_parameters)
        m_gradients.push_back(parameter.grad());
    m_graph = std::move(graph);
}

std::optional<CudaGraphStep::Result> CudaGraphStep::run(const BatchTensors& batch)
{
    m_largest = std::max(m_largest, batch.count);
    if (m_failed || m_stepsBefore++ < kStepsBefore)
        return std::nullopt;
    if (!m_graph && batch.count < m_largest)
        return std::nullopt;
    if (!m_graph) {
        try {
            record(batch);
        } catch (const std::exception& failure) {
            m_failed = true;
            m_failure = explainUncompiled(failure);
            m_batch = {};
            m_result = {};
            dropGradients();
            return std::nullopt;
        }
    }
    if (!sameShapes(batch))
        return std::nullopt;
    const at::NoGradGuard noGradients;
    for (std::size_t i = 0; i < batch.inputs.size(); ++i)
        m_batch.inputs[i].copy_(batch.inputs[i], true);
    m_batch.target.copy_(batch.target, true);
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        m_parameters[i].mutable_grad() = m_gradients[i];
    m_graph->replay();
    ++m_steps;
    return Result{m_result.loss.clone(), m_result.pass.detached()};
}

std::optional<config::protocol::Notice> CudaGraphStep::takeFailure()
{
    return std::exchange(m_failure, std::nullopt);
}

} // namespace trainer
