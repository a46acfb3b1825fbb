#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Recomputation: parts of a model run again in the backward pass instead of storing their activations. From the bottom
/// up: the hooks that replace stored tensors, a recomputed function, a part of a block that can be recomputed, and the
/// choice of the parts.
namespace trainer {

/// During its lifetime, tensors that operators on its thread save for the backward pass go to hooks from `make`, one
/// per tensor: the equivalent of Python's torch.autograd.graph.saved_tensors_hooks. The most recent object is used.
class SavedTensors {
public:
    using Make = std::function<std::unique_ptr<torch::autograd::SavedVariableHooks>()>;

    explicit SavedTensors(Make make);
    ~SavedTensors();
    SavedTensors(const SavedTensors&) = delete;
    SavedTensors& operator=(const SavedTensors&) = delete;

    /// Whether hooks are set on this thread.
    static bool areHooked();
    /// The hooks for the next tensor saved on this thread; null: operators save tensors themselves.
    static std::unique_ptr<torch::autograd::SavedVariableHooks> hooksOfThread();

private:
    Make m_make;
    SavedTensors* m_before;
};

/// A part of a forward pass: tensors in, one out.
using BlockFunction = std::function<at::Tensor(at::TensorList)>;

/// Memory freed and time spent by recomputing a part.
struct RecomputeCost {
    std::int64_t freedBytes = 0; ///< bytes that it would have stored for the backward pass, without inputs and outputs
    double seconds = 0;          ///< duration of its last recomputation
};

/// Runs `block` and stores only its inputs, outputs and parameters. In the backward pass, the first of its operators
/// runs the block again, up to the last tensor that the operators need: the rest is not computed twice. If gradients
/// are disabled, it simply runs the block. Everything else that the block reads must be captured by value.
/// @param module  contains the block's batch norms; must outlive the backward pass
/// @param cost  filled in if not null; measuring waits for the device
at::Tensor recomputed(const BlockFunction& block, torch::nn::Module& module, std::vector<at::Tensor> inputs,
                      std::shared_ptr<RecomputeCost> cost = nullptr);

/// A part of a block whose operators are fast but store much: norms, activations, softmax. It ends with the
/// layer that consumes their output; that layer does not run again, only its input is recomputed. Setting `runs`
/// changes how the part runs.
class CheapPart final : public torch::nn::Module {
public:
    using Run = std::function<at::Tensor(torch::nn::Module&, at::TensorList, const BlockFunction&)>;

    /// @param owner  contains the batch norms of `part`
    /// @param part  as for recomputed()
    at::Tensor run(torch::nn::Module& owner, at::TensorList inputs, const BlockFunction& part) const
    {
        return runs ? runs(owner, inputs, part) : part(inputs);
    }

    Run runs;
};

class Network;

/// Runs parts of a model again in the backward pass instead of storing their activations. Gradients are bit-identical:
/// random numbers and mixed precision are those of the first run, and batch norms update their statistics only in the
/// first run.
class Checkpointing {
public:
    enum class Choice {
        Off,
        All,  ///< each block: tensors between blocks are stored, and those within a block only during its backward pass
        Cheap ///< the cheap parts of blocks, and blocks without named parts, if they free more bytes per second of
              ///< recomputation than the model stores per second of its forward pass. All of them until this is
              ///< measured in the first passes.
    };
    /// Cost and benefit of recomputing a part.
    struct Cost {
        std::string part;
        double seconds = 0;          ///< duration of its recomputation
        std::int64_t freedBytes = 0; ///< freed until the backward pass, without inputs and outputs
        bool recomputed = false;
    };

    /// Wraps the blocks of `network`, which must outlive this object.
    Checkpointing(Network& network, Choice choice, at::Device device);
    ~Checkpointing();
    Checkpointing(const Checkpointing&) = delete;
    Checkpointing& operator=(const Checkpointing&) = delete;

    /// Whether costs are known and, with Choice::Cheap, the parts are chosen.
    [[nodiscard]] bool decided() const;
    /// Empty if the model has no blocks: then nothing can be recomputed.
    [[nodiscard]] std::vector<Cost> costs() const;

private:
    struct State;
    std::shared_ptr<State> m_state; // shared with the wrapped blocks
};

/// "layer0.scores (recomputed): 0.20 ms, 1.10 MB; …": all parts.
std::string partsText(const std::vector<Checkpointing::Cost>& costs);
/// The number of recomputed parts, the time they take and the memory they free: a sentence without its full stop.
std::string choiceText(const std::vector<Checkpointing::Cost>& costs);

} // namespace trainer
