#pragma once

#include "trainer/config/training_config.h"
#include "trainer/data/dataset.h"
#include "trainer/loop/recording.h"
#include "trainer/memory/batch_memory.h"
#include "trainer/workloads/network.h"

#include <ATen/core/Tensor.h>
#include <memory>
#include <vector>

namespace trainer {

class Optimizer;

/// A model on its device, what changes its weights, and how: memory format, mixed precision, gradients. One thread.
class Learner {
public:
    /// The data must fit the model: see workloads' fits().
    Learner(const config::TrainingConfig& config, const data::SampleSpec& spec, at::Device device);
    ~Learner();

    /// What a pass gives, on the device, without the graph.
    struct Output {
        at::Tensor loss; ///< mean over what is predicted, no dimensions
        Pass pass;
    };
    /// Moves a batch to where and how the model wants it.
    [[nodiscard]] BatchTensors place(const BatchTensors& batch) const;
    /// Gradients away, forward, backward, optimizer; each is a phase of `recording`.
    Output train(const BatchTensors& batch, Recording& recording);
    /// Forward only, in evaluation mode; with the graph that a backward pass would need unless eval.no_grad is set.
    Output evaluate(const BatchTensors& batch);

    /// What the model is trained for: which loss, which metric.
    [[nodiscard]] Objective objective() const { return m_objective; }
    [[nodiscard]] std::int64_t parameterCount() const;
    [[nodiscard]] at::Device device() const { return m_device; }
    /// Waits for all work on the device. Nothing to wait for on the processor.
    void synchronize() const;

private:
    Output forward(const BatchTensors& batch);
    void dropGradients();

    at::Device m_device;
    at::MemoryFormat m_format;
    bool m_amp, m_setToNone, m_evalNoGrad, m_anomaly;
    std::shared_ptr<Network> m_network;
    Objective m_objective;
    std::vector<at::Tensor> m_parameters;
    std::unique_ptr<Optimizer> m_optimizer;
    double m_learningRate;
};

} // namespace trainer
