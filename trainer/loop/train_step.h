#pragma once

#include "trainer/config/training_config.h"
#include "trainer/data/dataset.h"
#include "trainer/loop/cuda_graph_step.h"
#include "trainer/loop/recording.h"
#include "trainer/loop/saved_state.h"
#include "trainer/loop/weight_update.h"
#include "trainer/memory/batch_memory.h"
#include "trainer/memory/checkpointing.h"
#include "trainer/models/compiled_model.h"
#include "trainer/parallel/copies.h"
#include "trainer/workloads/network.h"

#include <ATen/core/Tensor.h>
#include <memory>
#include <optional>
#include <vector>

namespace trainer {

/// A model on its device, what changes its weights, and how: memory format, precision, gradients. One thread.
class TrainStep {
public:
    /// The data must fit the model: see workloads' fits().
    /// @param group  the processes that train together; null: this one alone
    /// @param totalSteps  of the training
    /// @param recorder  where threads of its own are named; null: nowhere
    TrainStep(const config::TrainingConfig& config, const data::SampleSpec& spec, at::Device device,
            std::shared_ptr<ProcessGroup> group, std::int64_t totalSteps,
            profiler::capture::Recorder* recorder = nullptr);
    ~TrainStep();

    /// What a pass gives, on the device, without the graph.
    struct Output {
        at::Tensor loss; ///< mean over what is predicted, no dimensions
        Pass pass;
    };
    /// Begins a step: gradients away. Phases of `recording`, as in the following.
    void begin(Recording& recording);
    /// Forward and backward of one micro-batch; its gradients are added up.
    /// @param share  of the step's loss that this micro-batch has
    /// @param last  of the step: ranks exchange their gradients now
    Output accumulate(const BatchTensors& batch, double share, bool last, Recording& recording);
    /// The last micro-batch of a step on a rank that has none: `batch` is of no data, and changes neither weights nor
    /// statistics.
    Output dummyBatch(const BatchTensors& batch, Recording& recording);
    /// Changes the weights.
    /// @param factor  for all gradients: where fewer samples came than the shares counted on
    /// @return false when the step was skipped, because FP16 gradients overflowed
    bool update(std::int64_t step, double factor, Recording& recording);
    /// Forward only, in evaluation mode; with the graph that a backward pass would need unless eval.no_grad is set.
    Output evaluate(const BatchTensors& batch);

    /// What the model is trained for: which loss, which metric.
    [[nodiscard]] Objective objective() const { return m_objective; }
    [[nodiscard]] std::int64_t parameterCount() const;
    /// Tensors that get a gradient which nobody reads: frozen ones, and the input.
    [[nodiscard]] std::int64_t unneededGradients() const;
    [[nodiscard]] at::Device device() const { return m_device; }
    [[nodiscard]] Network& network() { return *m_network; }
    [[nodiscard]] const WeightUpdate& weights() const { return *m_update; }
    [[nodiscard]] const Checkpointing& checkpointing() const { return *m_checkpointing; }
    /// Why the step is not compiled although that was asked for, once.
    std::optional<config::protocol::Notice> takeCompileFailure()
    {
        return m_graph ? m_graph->takeFailure() : std::nullopt;
    }
    /// Whether the step is compiled and no step was run so, although nothing failed.
    [[nodiscard]] bool graphIsUnused() const { return m_graph && m_graph->isUnused(); }
    /// What is to be said about eval.package, once each.
    std::optional<config::protocol::Notice> takePackageNotice()
    {
        return m_package ? m_package->takeNotice() : std::nullopt;
    }
    /// Waits for all work on the device. Nothing to wait for on the processor.
    void synchronize() const;

    /// Adds weights, statistics, optimizer and scaler, on the processor; a copy of their own.
    void save(SavedState& state) const;
    /// Throws std::exception when the state is of another model or optimizer.
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
    bool m_outputsKept; // a pass may be read after the next one
    std::shared_ptr<Network> m_network;
    Objective m_objective;
    std::vector<at::Tensor> m_parameters, m_trained; // all, and those that the optimizer changes
    std::unique_ptr<Checkpointing> m_checkpointing;
    std::vector<std::unique_ptr<Checkpointing>> m_checkpointingOfCopies;
    std::unique_ptr<WeightUpdate> m_update;
    std::unique_ptr<ModelCopies> m_copies;    // null: one model
    std::unique_ptr<CudaGraphStep> m_graph;     // null: not compiled
    std::unique_ptr<CompiledModel> m_package; // for validation; null: none
};

} // namespace trainer
