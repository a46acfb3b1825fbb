#include "trainer/precision/mixed_precision.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

namespace trainer {

Autocast::Autocast(at::DeviceType device, std::optional<at::ScalarType> type)
    : m_device(device), m_enabled(type.has_value())
{
    if (!m_enabled)
        return;
    m_before = at::autocast::is_autocast_enabled(device);
    m_typeBefore = at::autocast::get_autocast_dtype(device);
    at::autocast::set_autocast_enabled(device, true);
    at::autocast::set_autocast_dtype(device, *type);
    at::autocast::increment_nesting();
}

Autocast::~Autocast()
{
    if (!m_enabled)
        return;
    // Clears the cached half-precision weights, because the optimizer changes the weights.
    if (at::autocast::decrement_nesting() == 0)
        at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(m_device, m_before);
    at::autocast::set_autocast_dtype(m_device, m_typeBefore);
}

std::optional<at::ScalarType> Autocast::current(at::DeviceType device)
{
    if (!at::autocast::is_autocast_enabled(device))
        return std::nullopt;
    return at::autocast::get_autocast_dtype(device);
}

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

void setTf32(bool on)
{
    using at::Float32Backend, at::Float32Op, at::Float32Precision;
    // Uses only this interface: after one call of it, LibTorch's older getters throw.
    auto& context = at::globalContext();
    context.setFloat32Precision(Float32Backend::CUDA, Float32Op::MATMUL,
                                on ? Float32Precision::TF32 : Float32Precision::IEEE);
    context.setFloat32Precision(Float32Backend::CUDA, Float32Op::CONV, Float32Precision::TF32);
    context.setFloat32Precision(Float32Backend::CUDA, Float32Op::RNN, Float32Precision::TF32);
}

void setCudnnBenchmark(bool on)
{
    at::globalContext().setBenchmarkCuDNN(on);
}

} // namespace trainer
