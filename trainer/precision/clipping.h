#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

namespace trainer {

/// Scales all gradients by one factor so that their total norm is at most `limit`, like torch.nn.utils.clip_grad_norm_.
/// Reads nothing back from the device.
/// @return the norm before scaling, a scalar on the device
at::Tensor clipNorm(const std::vector<at::Tensor>& gradients, double limit);
/// Clamps every element to ±limit.
void clipValue(const std::vector<at::Tensor>& gradients, double limit);

} // namespace trainer
