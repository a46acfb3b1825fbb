#include "trainer/loop/learner.h"

#include "stepscope_training_optimizers_registry.h"
#include "trainer/precision/autocast.h"
#include "trainer/models/options.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <optional>
#include <torch/csrc/autograd/anomaly_mode.h>

namespace trainer {

namespace key = config::key;

namespace {

template <class Entry>
Entry registered(const std::vector<profiler::Registered<Entry>>& all, const std::string& id)
{
    for (const auto& [stem, entry] : all)
        if (stem == id)
            return entry;
    throw std::logic_error("no file defines '" + id + "'"); // the table of knobs names something that is not there
}

} // namespace

Learner::Learner(const config::TrainingConfig& config, const data::SampleSpec& spec, at::Device device)
    : m_device(device), m_format(config[key::memoryFormat] == "channels_last" ? at::MemoryFormat::ChannelsLast
                                                                              : at::MemoryFormat::Contiguous),
      m_amp(config[key::amp] == "bf16"), m_setToNone(config[key::setToNone]), m_evalNoGrad(config[key::evalNoGrad]),
      m_anomaly(config[key::anomaly]), m_network(makeNetwork(config, spec)),
      m_objective(m_network->objective())
{
    m_network->to(device);
    m_network->train();
    m_parameters = m_network->parameters();
    for (at::Tensor& parameter : m_parameters)
        parameter.set_data(parameter.contiguous(formatFor(parameter.dim(), m_format)));
    OptimizerOptions options;
    options.momentum = config[key::momentum];
    options.weightDecay = config[key::weightDecay];
    m_optimizer = registered(optimizers::all(), config[key::optimizer]).make(m_parameters, options);
    m_learningRate = config[key::learningRate];
}

Learner::~Learner() = default;

BatchTensors Learner::place(const BatchTensors& batch) const
{
    return placed(batch, m_device, m_format);
}

void Learner::dropGradients()
{
    for (at::Tensor& parameter : m_parameters) {
        at::Tensor& gradient = parameter.mutable_grad();
        if (!gradient.defined())
            continue;
        if (m_setToNone)
            gradient.reset();
        else
            gradient.zero_();
    }
}

Learner::Output Learner::forward(const BatchTensors& batch)
{
    const Autocast autocast(m_device.type(), m_amp ? std::optional(at::kBFloat16) : std::nullopt);
    Pass pass = m_network->forward(batch);
    at::Tensor loss = lossOf(m_objective, pass);
    return {std::move(loss), std::move(pass)};
}

Learner::Output Learner::train(const BatchTensors& batch, Recording& recording)
{
    std::optional<torch::autograd::DetectAnomalyGuard> anomaly;
    if (m_anomaly)
        anomaly.emplace();
    {
        const PhaseRange phase(recording, Phase::ZeroGrad);
        dropGradients();
    }
    Output output;
    {
        const PhaseRange phase(recording, Phase::Forward);
        output = forward(batch);
    }
    {
        const PhaseRange phase(recording, Phase::Backward);
        output.loss.backward();
    }
    {
        const PhaseRange phase(recording, Phase::Optimizer);
        m_optimizer->step(m_learningRate);
    }
    return {output.loss.detach(), output.pass.detached()};
}

Learner::Output Learner::evaluate(const BatchTensors& batch)
{
    const at::AutoGradMode gradients(!m_evalNoGrad);
    m_network->eval();
    const Output output = forward(batch);
    m_network->train();
    return {output.loss.detach(), output.pass.detached()};
}

std::int64_t Learner::parameterCount() const
{
    std::int64_t count = 0;
    for (const at::Tensor& parameter : m_parameters)
        count += parameter.numel();
    return count;
}

void Learner::synchronize() const
{
    if (m_device.is_cpu())
        return;
    const c10::impl::VirtualGuardImpl guard(m_device.type());
    guard.getStream(m_device).synchronize();
}

} // namespace trainer
