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

} // namespace trainer
