#include "trainer/step/weight_update.h"

#include "profiler/model/registered.h"
#include "stepscope_run_base_schedules_registry.h"
#include "stepscope_training_optimizers_registry.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace trainer {

namespace key = config::key;

namespace {

/// The registry entry that a knob names. Throws std::logic_error if the knob table names an entry that does not exist.
template <class Entry>
Entry registered(const std::vector<profiler::Registered<Entry>>& all, const std::string& id)
{
    for (const auto& [stem, entry] : all)
        if (stem == id)
            return entry;
    throw std::logic_error("no file defines '" + id + "'");
}

OptimizerOptions optimizerOptions(const config::TrainingConfig& config)
{
    using Implementation = OptimizerOptions::Implementation;
    OptimizerOptions options;
    options.momentum = config[key::momentum];
    options.nesterov = config[key::nesterov];
    options.beta1 = config[key::beta1];
    options.beta2 = config[key::beta2];
    options.epsilon = config[key::epsilon];
    options.weightDecay = config[key::weightDecay];
    options.trustCoefficient = config[key::trustCoefficient];
    options.implementation = config[key::implementation] == "fused"     ? Implementation::Fused
                             : config[key::implementation] == "foreach" ? Implementation::Foreach
                                                                        : Implementation::ForLoop;
    return options;
}

// Goyal et al. 2017 for the linear rule, Krizhevsky 2014 for the square root.
double scaledRate(const config::TrainingConfig& config, std::int64_t batch)
{
    const double times = static_cast<double>(batch) / static_cast<double>(config[key::lrBaseBatch]);
    const double factor = config[key::lrScaling] == "linear" ? times
                          : config[key::lrScaling] == "sqrt" ? std::sqrt(times)
                                                             : 1.0;
    return config[key::learningRate] * factor;
}

ScheduleOptions scheduleOptions(const config::TrainingConfig& config, std::int64_t batch, std::int64_t totalSteps)
{
    ScheduleOptions options;
    options.learningRate = scaledRate(config, batch);
    options.totalSteps = std::max<std::int64_t>(totalSteps, 1);
    options.warmupSteps = config[key::warmupSteps];
    options.finalShare = config[key::finalShare];
    options.stepSize = config[key::scheduleStepSize];
    options.gamma = config[key::scheduleGamma];
    options.cycleSteps = config[key::cycleSteps];
    options.lowestShare = config[key::lowestShare];
    options.cycleShare = config[key::cycleShare];
    options.rangeLowest = config[key::rangeLowest];
    return options;
}

} // namespace

WeightUpdate::WeightUpdate(const config::TrainingConfig& config, std::vector<at::Tensor> parameters, at::Device device,
                           std::int64_t batch, std::int64_t totalSteps)
    : m_parameters(std::move(parameters)),
      m_optimizer(registered(optimizers::all(), config[key::optimizer]).make(m_parameters, optimizerOptions(config))),
      m_schedule(registered(schedules::all(), config[key::schedule])),
      m_rates(scheduleOptions(config, batch, totalSteps)), m_clipNorm(config[key::clipNorm]),
      m_clipValue(config[key::clipValue])
{
    if (config[key::amp] == "fp16")
        m_scaler.emplace(device);
}

WeightUpdate::~WeightUpdate() = default;

at::Tensor WeightUpdate::scaled(const at::Tensor& loss) const
{
    return m_scaler ? m_scaler->scaled(loss) : loss;
}

bool WeightUpdate::apply(std::int64_t step, double factor)
{
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : m_parameters)
        if (parameter.grad().defined())
            gradients.push_back(parameter.grad());
    if (gradients.empty())
        return true;
    const at::NoGradGuard noGradients;
    if (factor != 1)
        at::_foreach_mul_(gradients, factor);
    if (m_scaler && !m_scaler->unscale(gradients))
        return false;
    if (m_clipValue > 0)
        clipValue(gradients, m_clipValue);
    if (m_clipNorm > 0)
        clipNorm(gradients, m_clipNorm);
    m_optimizer->step(learningRate(step));
    return true;
}

double WeightUpdate::learningRate(std::int64_t step) const
{
    return learningRateAt(m_schedule, step, m_rates);
}

std::vector<std::pair<std::string, at::Tensor>> WeightUpdate::state() const
{
    auto state = m_optimizer->state();
    if (m_scaler) {
        state.emplace_back("scaler.scale", m_scaler->state()[0]);
        state.emplace_back("scaler.good", m_scaler->state()[1]);
    }
    return state;
}

void WeightUpdate::setState(const std::vector<std::pair<std::string, at::Tensor>>& state)
{
    m_optimizer->setState(state);
    if (!m_scaler)
        return;
    const at::NoGradGuard noGradients;
    auto own = m_scaler->state();
    for (const auto& [name, tensor] : state)
        if (name == "scaler.scale" || name == "scaler.good")
            own[name == "scaler.good" ? 1 : 0].copy_(tensor);
}

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
