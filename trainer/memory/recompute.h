#pragma once

#include <ATen/core/Tensor.h>
#include <functional>

namespace torch::nn {
class Module;
}

namespace trainer {

using BlockFunction = std::function<at::Tensor(const at::Tensor&)>;

/// Runs `block` without keeping anything but its input; its backward pass runs it again. Where no gradients are
/// recorded, it just runs.
/// @param module  holds the block's parameters and batch norms; must outlive the backward pass
at::Tensor recomputed(const BlockFunction& block, torch::nn::Module& module, const at::Tensor& input);

} // namespace trainer
