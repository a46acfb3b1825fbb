#include "trainer/precision/clipping.h"

#include <ATen/ATen.h>

namespace trainer {

at::Tensor clipNorm(const std::vector<at::Tensor>& gradients, double limit)
{
    const at::NoGradGuard noGradients;
    // The same constant as in clip_grad_norm_, to avoid a division by zero.
    constexpr double kTiny = 1e-6;
    const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
    at::_foreach_mul_(gradients, (limit / (norm + kTiny)).clamp_max(1));
    return norm;
}

void clipValue(const std::vector<at::Tensor>& gradients, double limit)
{
    const at::NoGradGuard noGradients;
    at::_foreach_clamp_min_(gradients, -limit);
    at::_foreach_clamp_max_(gradients, limit);
}

} // namespace trainer
