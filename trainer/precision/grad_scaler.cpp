#include "trainer/precision/grad_scaler.h"

#include <ATen/ATen.h>

namespace trainer {

namespace {
constexpr double kFirstScale = 65536, kGrowth = 2, kBackoff = 0.5;
constexpr std::int64_t kGoodSteps = 2000;
} // namespace

GradScaler::GradScaler(at::Device device)
    : m_scale(at::full({}, kFirstScale, at::TensorOptions(device).dtype(at::kFloat))),
      m_good(at::zeros({}, at::TensorOptions(device).dtype(at::kInt))),
      m_found(at::zeros({}, at::TensorOptions(device).dtype(at::kFloat)))
{
}

bool GradScaler::unscale(const std::vector<at::Tensor>& gradients)
{
    const at::NoGradGuard noGradients;
    m_found.zero_();
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, m_found, m_scale.reciprocal());
    at::_amp_update_scale_(m_scale, m_good, m_found, kGrowth, kBackoff, kGoodSteps);
    if (m_found.item<double>() == 0)
        return true;
    ++m_skipped;
    return false;
}

} // namespace trainer
