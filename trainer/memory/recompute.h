#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace torch::nn {
class Module;
}

namespace trainer {

/// A part of a forward pass: tensors in, one out.
using BlockFunction = std::function<at::Tensor(at::TensorList)>;

/// What it frees and costs to compute a part again.
struct RecomputeCost {
    std::int64_t freedBytes = 0; ///< of what it would have kept for the backward pass, beyond what goes in and out
    double seconds = 0;          ///< of its last recomputation
};

/// Runs `block` without keeping anything but what goes in and parameters. The first of its operators that is
/// differentiated runs it again, up to the last tensor that they need: what comes after that is not computed twice.
/// Where no gradients are recorded, it just runs. What else the block reads must be captured by value.
/// @param module  holds the block's batch norms; must outlive the backward pass
/// @param cost  filled in where given; the device is then waited for
at::Tensor recomputed(const BlockFunction& block, torch::nn::Module& module, std::vector<at::Tensor> inputs,
                      std::shared_ptr<RecomputeCost> cost = nullptr);

} // namespace trainer
