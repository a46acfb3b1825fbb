#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trainer {

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
