#pragma once

#include <ATen/core/Tensor.h>

namespace trainer {

/// x · (1 + erf(x / √2)) / 2 (Hendrycks and Gimpel, 2016).
/// @param fused  as one kernel: compiled just in time on a GPU; LibTorch's GELU operator in recomputed parts and on the
///               CPU, where LibTorch's compiler cannot fuse. Otherwise written out as five kernels.
at::Tensor gelu(const at::Tensor& x, bool fused);

} // namespace trainer
