#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trainer {

class Network;

/// Runs parts of a model again in the backward pass instead of keeping what they computed. Gradients are the same to
/// the bit: random numbers and mixed precision are those of the first run, and batch norms update their statistics only
/// in the first.
class Checkpointing {
public:
    enum class Choice {
        Off,
        All,  ///< each block: what goes from one to the next is kept, and within one while it is differentiated
        Cheap ///< the cheap parts of blocks, and blocks that name none, which free more bytes per second of
              ///< recomputation than the model keeps per second of its forward pass. Until that is measured, in the
              ///< first passes, all of them.
    };
    /// What a part costs and frees.
    struct Cost {
        std::string part;
        double seconds = 0;          ///< of its recomputation
        std::int64_t freedBytes = 0; ///< of the backward pass, beyond what goes in and out
        bool recomputed = false;
    };

    /// Wraps the blocks of `network`, which must outlive it.
    Checkpointing(Network& network, Choice choice, at::Device device);
    ~Checkpointing();
    Checkpointing(const Checkpointing&) = delete;
    Checkpointing& operator=(const Checkpointing&) = delete;

    /// Costs are known and, with Choice::Cheap, parts are chosen.
    [[nodiscard]] bool decided() const;
    /// Empty where the model has no blocks: nothing of it can be recomputed.
    [[nodiscard]] std::vector<Cost> costs() const;

private:
    struct State;
    std::shared_ptr<State> m_state; // shared with the wrapped blocks
};

/// "layer0.scores (recomputed): 0.20 ms, 1.10 MB; …": each part.
std::string partsText(const std::vector<Checkpointing::Cost>& costs);
/// How many are recomputed, and what that takes and frees: a sentence without its full stop.
std::string choiceText(const std::vector<Checkpointing::Cost>& costs);

} // namespace trainer
