#pragma once

#include "trainer/config/training_config.h"
#include "trainer/data/dataset.h"
#include "trainer/memory/checkpointing.h"
#include "trainer/memory/device_batch.h"
#include "trainer/parallel/data_parallel.h"
#include "trainer/session/recording.h"
#include "trainer/session/saved_state.h"
#include "trainer/step/cuda_graph_step.h"
#include "trainer/step/weight_update.h"
#include "trainer/workloads/parts/compiled_model.h"
#include "trainer/workloads/parts/network.h"

#include <ATen/core/Tensor.h>
#include <memory>
#include <optional>
#include <vector>

namespace trainer {

/// A model on its device, and how its weights are updated: memory format, precision, gradients. Single-threaded.
class TrainStep {
public:
    /// The data must fit the model: see fits() of the workloads.
    /// @param group  the processes that train together; null: only this one
    /// @param totalSteps  of the training
    /// @param recorder  receives the names of helper threads; null: none
    TrainStep(const config::TrainingConfig& config, const data::SampleSpec& spec, at::Device device,
              std::shared_ptr<ProcessGroup> group, std::int64_t totalSteps,
              profiler::capture::Recorder* recorder = nullptr);
    ~TrainStep();

    /// The result of a pass, on the device, detached from the graph.
    struct Output {
        at::Tensor loss; ///< mean over all predictions, a scalar
        Pass pass;
    };
    /// Begins a step: clears the gradients. Records phases in `recording`, like the functions below.
    void begin(Recording& recording);
    /// Forward and backward pass of one micro-batch; its gradients are accumulated.
    /// @param share  weight of this micro-batch in the step's loss
    /// @param last  last micro-batch of the step: ranks exchange their gradients now
    Output accumulate(const BatchTensors& batch, double share, bool last, Recording& recording);
    /// The last micro-batch of a step on a rank without data: `batch` contains dummy data and changes neither weights
    /// nor statistics.
    Output dummyBatch(const BatchTensors& batch, Recording& recording);
    /// Updates the weights.
    /// @param factor  for all gradients: corrects for fewer samples than the shares assumed
    /// @return false if the step was skipped because FP16 gradients overflowed
    bool update(std::int64_t step, double factor, Recording& recording);
    /// Forward pass only, in evaluation mode; records the autograd graph unless eval.no_grad is set.
    Output evaluate(const BatchTensors& batch);

    /// The training objective: loss and metric.
    [[nodiscard]] Objective objective() const { return m_objective; }
    [[nodiscard]] std::int64_t parameterCount() const;
    /// Number of tensors that get a gradient that is never used: frozen parameters and the input.
    [[nodiscard]] std::int64_t unneededGradients() const;
    [[nodiscard]] at::Device device() const { return m_device; }
    [[nodiscard]] Network& network() { return *m_network; }
    [[nodiscard]] const WeightUpdate& weights() const { return *m_update; }
    [[nodiscard]] const Checkpointing& checkpointing() const { return *m_checkpointing; }
    /// Returns once why the step is not compiled although the configuration asks for it.
    std::optional<config::protocol::Notice> takeCompileFailure()
    {
        return m_graph ? m_graph->takeFailure() : std::nullopt;
    }
    /// Whether the step is compiled but no step has used the graph, although nothing failed.
    [[nodiscard]] bool graphIsUnused() const { return m_graph && m_graph->isUnused(); }
    /// Notices about eval.package, once each.
    std::optional<config::protocol::Notice> takePackageNotice()
    {
        return m_package ? m_package->takeNotice() : std::nullopt;
    }
    /// Waits for all work on the device. Does nothing on the CPU.
    void synchronize() const;

    /// Adds copies of weights, statistics, optimizer and scaler on the CPU.
    void save(SavedState& state) const;
    /// Throws std::exception if the state belongs to another model or optimizer.
    void restore(const SavedState& state);

private:
    Output forward(const BatchTensors& batch);
    void freeze(std::int64_t blocks);
    void dropGradients();
    void redundantWork(const Output& output) const;

    at::Device m_device;
    std::optional<at::ScalarType> m_amp;
    bool m_setToNone, m_evalNoGrad, m_anomaly, m_unused;
    bool m_floatInput;
    bool m_outputsKept; // an output may be read after the next pass
    std::shared_ptr<Network> m_network;
    Objective m_objective;
    std::vector<at::Tensor> m_parameters, m_trained; // all parameters, and those that the optimizer updates
    std::unique_ptr<Checkpointing> m_checkpointing;
    std::vector<std::unique_ptr<Checkpointing>> m_checkpointingOfCopies;
    std::unique_ptr<WeightUpdate> m_update;
    std::unique_ptr<ModelCopies> m_copies;    // null: one model
    std::unique_ptr<CudaGraphStep> m_graph;   // null: not compiled
    std::unique_ptr<CompiledModel> m_package; // for validation; null: none
};

} // namespace trainer
