#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

namespace trainer {

/// Scales all gradients by one factor so that their common norm is at most `limit`, as
/// torch.nn.utils.clip_grad_norm_. Nothing is read back from the device.
/// @return the norm before, without dimensions, on the device
at::Tensor clipNorm(const std::vector<at::Tensor>& gradients, double limit);
/// Cuts every element off at ±limit.
void clipValue(const std::vector<at::Tensor>& gradients, double limit);

} // namespace trainer
