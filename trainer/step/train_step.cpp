#include "trainer/step/train_step.h"

#include "profiler/model/result.h"
#include "trainer/precision/mixed_precision.h"
#include "trainer/workloads/parts/network.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <optional>
#include <torch/csrc/autograd/anomaly_mode.h>

namespace trainer {

namespace key = config::key;

namespace {

std::optional<at::ScalarType> halfType(const config::TrainingConfig& config)
{
    if (config[key::amp] == "off")
        return std::nullopt;
    return config[key::amp] == "fp16" ? at::kHalf : at::kBFloat16;
}

Checkpointing::Choice choiceOf(const std::string& text)
{
    return text == "all"     ? Checkpointing::Choice::All
           : text == "cheap" ? Checkpointing::Choice::Cheap
                             : Checkpointing::Choice::Off;
}

} // namespace

TrainStep::TrainStep(const config::TrainingConfig& config, const data::SampleSpec& spec, at::Device device,
                     std::shared_ptr<ProcessGroup> group, std::int64_t totalSteps,
                     profiler::capture::Recorder* recorder)
    : m_device(device), m_amp(halfType(config)), m_setToNone(config[key::setToNone]),
      m_evalNoGrad(config[key::evalNoGrad]), m_anomaly(config[key::anomaly]), m_unused(config[key::unusedWork]),
      m_floatInput(!spec.inputs.empty() && spec.inputs.front().dtype == data::Dtype::Float32),
      m_outputsKept(config[key::asyncWork]), m_network(makeNetwork(config, spec)), m_objective(m_network->objective())
{
    m_network->to(device);
    m_network->train();
    m_parameters = m_network->parameters();
    const auto format =
        config[key::memoryFormat] == "channels_last" ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    for (at::Tensor& parameter : m_parameters)
        parameter.set_data(parameter.contiguous(formatFor(parameter.dim(), format)));
    freeze(config[key::frozenBlocks]);
    m_checkpointing = std::make_unique<Checkpointing>(*m_network, choiceOf(config[key::checkpointing]), device);
    const std::int64_t batch =
        config[key::batchSize] * config[key::accumulation] * (group ? group->size() : std::int64_t{1});
    m_update = std::make_unique<WeightUpdate>(config, m_trained, device, batch, totalSteps);
    if (group)
        m_copies = copiesOverProcesses(*m_network, std::move(group));
    else if (config[key::parallel] == "dp")
        m_copies = copiesOfOneProcess(
            *m_network,
            [&] {
                auto copy = makeNetwork(config, spec);
                m_checkpointingOfCopies.push_back(
                    std::make_unique<Checkpointing>(*copy, choiceOf(config[key::checkpointing]), device));
                return copy;
            },
            device, config[key::localRanks], recorder);
    // If gradients are exchanged or accumulated over batches, a single recorded pass is not enough.
    if (config[key::compile] && !device.is_cpu() && !m_copies && config[key::accumulation] == 1)
        m_graph = std::make_unique<CudaGraphStep>(*m_network, [this](const BatchTensors& given) {
            Output output = forward(given);
            m_update->scaled(output.loss).backward();
            return CudaGraphStep::Result{output.loss.detach(), output.pass.detached()};
        });
    m_package = CompiledModel::open(config, *m_network, device);
}

TrainStep::~TrainStep() = default;

// Freezes the weights of the first blocks. Their gradients are not needed and are only computed with work.unused.
void TrainStep::freeze(std::int64_t blocks)
{
    std::vector<at::Tensor> frozen;
    const auto children = m_network->named_children();
    for (const Block& block : m_network->blocks())
        if (blocks-- > 0)
            for (const at::Tensor& parameter : children[block.name]->parameters())
                frozen.push_back(parameter);
    for (at::Tensor& parameter : m_parameters) {
        const bool isFrozen = std::any_of(frozen.begin(), frozen.end(),
                                          [&](const at::Tensor& other) { return other.is_same(parameter); });
        if (!isFrozen)
            m_trained.push_back(parameter);
        else if (!m_unused)
            parameter.set_requires_grad(false);
    }
}

void TrainStep::dropGradients()
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

TrainStep::Output TrainStep::forward(const BatchTensors& batch)
{
    const Autocast autocast(m_device.type(), m_amp);
    Pass pass = m_copies && m_network->is_training() ? m_copies->forward(batch) : m_network->forward(batch);
    at::Tensor loss = lossOf(m_objective, pass);
    return {std::move(loss), std::move(pass)};
}

void TrainStep::begin(Recording& recording)
{
    const PhaseRange phase(recording, Phase::ZeroGrad);
    dropGradients();
}

// Work of a careless training whose results are never used.
void TrainStep::redundantWork(const Output& output) const
{
    if (m_objective != Objective::Classes && m_objective != Objective::Segments)
        return;
    const at::NoGradGuard noGradients;
    static_cast<void>(at::softmax(output.pass.predictions, 1).mean(0));
}

TrainStep::Output TrainStep::dummyBatch(const BatchTensors& batch, Recording& recording)
{
    BuffersBefore buffers(*m_network);
    Output output = accumulate(batch, 0, true, recording);
    buffers.restore();
    return output;
}

TrainStep::Output TrainStep::accumulate(const BatchTensors& batch, double share, bool last, Recording& recording)
{
    std::optional<torch::autograd::DetectAnomalyGuard> anomaly;
    if (m_anomaly)
        anomaly.emplace();
    if (m_graph) {
        const PhaseRange phase(recording, Phase::Forward);
        if (const auto result = m_graph->run(batch)) {
            const Pass& pass = result->pass;
            return {result->loss, m_outputsKept ? Pass{pass.predictions.clone(), pass.targets.clone()} : pass};
        }
    }
    Output output;
    {
        const PhaseRange phase(recording, Phase::Forward);
        if (m_copies)
            m_copies->prepare(last);
        if (m_unused && batch.inputs[0].is_floating_point())
            at::Tensor(batch.inputs[0]).set_requires_grad(true);
        output = forward(batch);
        if (m_unused)
            redundantWork(output);
    }
    {
        const PhaseRange phase(recording, Phase::Backward);
        m_update->scaled(share == 1 ? output.loss : output.loss * share).backward();
        if (m_copies)
            m_copies->collect();
    }
    return {output.loss.detach(), output.pass.detached()};
}

bool TrainStep::update(std::int64_t step, double factor, Recording& recording)
{
    const PhaseRange phase(recording, Phase::Optimizer);
    if (m_package)
        m_package->weightsChanged();
    return m_update->apply(step, factor);
}

TrainStep::Output TrainStep::evaluate(const BatchTensors& batch)
{
    const at::AutoGradMode gradients(!m_evalNoGrad);
    m_network->eval();
    Output output;
    if (m_package) {
        output.pass = m_package->forward(batch, [&] { return forward(batch).pass; });
        output.loss = lossOf(m_objective, output.pass);
    } else {
        output = forward(batch);
    }
    m_network->train();
    return {output.loss.detach(), output.pass.detached()};
}

std::int64_t TrainStep::unneededGradients() const
{
    if (!m_unused)
        return 0;
    return static_cast<std::int64_t>(m_parameters.size() - m_trained.size()) + (m_floatInput ? 1 : 0);
}

std::int64_t TrainStep::parameterCount() const
{
    std::int64_t count = 0;
    for (const at::Tensor& parameter : m_parameters)
        count += parameter.numel();
    return count;
}

void TrainStep::synchronize() const
{
    if (m_device.is_cpu())
        return;
    const c10::impl::VirtualGuardImpl guard(m_device.type());
    guard.getStream(m_device).synchronize();
}

namespace {

// Copies the tensor even if it is on the CPU already: the training continues while the state is written.
at::Tensor kept(const at::Tensor& tensor)
{
    return tensor.detach().to(at::kCPU, tensor.scalar_type(), false, true);
}

} // namespace

void TrainStep::save(SavedState& state) const
{
    for (const auto& item : m_network->named_parameters())
        state.tensors.emplace("model." + item.key(), kept(item.value()));
    for (const auto& item : m_network->named_buffers())
        state.tensors.emplace("model." + item.key(), kept(item.value()));
    for (const auto& [name, tensor] : m_update->state())
        state.tensors.emplace("update." + name, kept(tensor));
}

void TrainStep::restore(const SavedState& state)
{
    const at::NoGradGuard noGradients;
    const auto takeOver = [&](const std::string& name, at::Tensor& tensor) {
        const at::Tensor& saved = state.tensor("model." + name);
        if (saved.sizes() != tensor.sizes())
            profiler::throwError<"checkpoint.tensor_shape",
                                 "The checkpoint belongs to another model: its tensor '{name}' has the shape {saved}, "
                                 "not {shape}">(
                profiler::Error::Code::Invalid, {}, {},
                {{"name", name}, {"saved", c10::str(saved.sizes())}, {"shape", c10::str(tensor.sizes())}});
        tensor.copy_(saved);
    };
    for (auto& item : m_network->named_parameters())
        takeOver(item.key(), item.value());
    for (auto& item : m_network->named_buffers())
        takeOver(item.key(), item.value());
    std::vector<std::pair<std::string, at::Tensor>> update;
    constexpr std::string_view kPrefix = "update.";
    for (const auto& [name, tensor] : state.tensors)
        if (name.starts_with(kPrefix))
            update.emplace_back(name.substr(kPrefix.size()), tensor);
    m_update->setState(update);
}

} // namespace trainer
