#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trainer {

class Network;

/// Runs blocks of a model again in the backward pass instead of keeping what they computed. Gradients are the same to
/// the bit: random numbers and mixed precision are those of the first run, and batch norms update their statistics only
/// in the first.
class Checkpointing {
public:
    enum class Choice {
        Off,
        All,
        Cheap ///< the blocks that free more bytes per second of recomputation than the model's mean, measured in the
              ///< first training passes
    };
    /// What a block costs and keeps, measured in a forward pass.
    struct Cost {
        std::string block;
        double seconds = 0;
        std::int64_t keptBytes = 0; ///< held for the backward pass beyond its output
        bool recomputed = false;
    };

    /// Wraps the blocks of `network`, which must outlive it.
    Checkpointing(Network& network, Choice choice, at::Device device);
    ~Checkpointing();
    Checkpointing(const Checkpointing&) = delete;
    Checkpointing& operator=(const Checkpointing&) = delete;

    /// Costs are known and, with Choice::Cheap, blocks are chosen.
    [[nodiscard]] bool decided() const;
    [[nodiscard]] std::vector<Cost> costs() const;

private:
    struct State;
    std::shared_ptr<State> m_state; // shared with the wrapped blocks
};

} // namespace trainer
