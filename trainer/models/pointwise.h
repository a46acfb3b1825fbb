#pragma once

#include <ATen/core/Tensor.h>

namespace trainer {

/// x · (1 + erf(x / √2)) / 2 (Hendrycks and Gimpel, 2016).
/// @param fused  as one kernel: compiled just in time on a GPU; on the processor, where LibTorch's compiler cannot
/// fuse,
///               and in what is recomputed its own operator. Else written out, a kernel for each of the five
///               operations.
at::Tensor gelu(const at::Tensor& x, bool fused);

} // namespace trainer
