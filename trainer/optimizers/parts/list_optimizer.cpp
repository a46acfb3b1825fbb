#include "trainer/optimizers/parts/list_optimizer.h"

#include "profiler/model/failure.h"

#include <ATen/ATen.h>
#include <unordered_map>

namespace trainer::optimizers {

using Implementation = OptimizerOptions::Implementation;
using profiler::Error;

namespace {

std::string slotName(std::string_view slot, std::size_t parameter)
{
    return std::string(slot) + "." + std::to_string(parameter);
}

at::Tensor makeSlot(const at::Tensor& parameter, const ListOptimizer::Slot& slot)
{
    const at::Tensor like = parameter.detach();
    return slot.perLayer ? at::zeros({}, like.options()) : at::zeros_like(like);
}

const at::Tensor& find(const std::unordered_map<std::string, at::Tensor>& all, const std::string& name)
{
    const auto found = all.find(name);
    if (found == all.end())
        profiler::throwError<"checkpoint.no_optimizer_state",
                             "The checkpoint belongs to another model or optimizer: its optimizer has no '{name}'">(
            Error::Code::Invalid, {}, {}, {{"name", name}});
    return found->second;
}

} // namespace

bool isMatrix(const at::Tensor& parameter)
{
    return parameter.dim() > 1;
}

ListOptimizer::ListOptimizer(Tensors parameters, const OptimizerOptions& options, std::vector<Slot> slots)
    : m_parameters(std::move(parameters)), m_options(options), m_math(options.implementation != Implementation::Plain),
      m_names(std::move(slots)), m_steps(m_parameters.size(), 0)
{
    for (const Slot& slot : m_names) {
        Tensors& made = m_slots.emplace_back();
        for (const at::Tensor& parameter : m_parameters)
            made.push_back(makeSlot(parameter, slot));
    }
    if (fused())
        for (const at::Tensor& parameter : m_parameters)
            m_stepTensors.push_back(at::zeros({}, parameter.options().dtype(at::kFloat).requires_grad(false)));
}

void ListOptimizer::step(double learningRate)
{
    const at::NoGradGuard noGradients;
    Lists lists;
    lists.slots.resize(m_names.size());
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        if (!m_parameters[i].grad().defined())
            continue;
        lists.parameters.push_back(m_parameters[i]);
        lists.gradients.push_back(m_parameters[i].grad());
        for (std::size_t slot = 0; slot < m_slots.size(); ++slot)
            lists.slots[slot].push_back(m_slots[slot][i]);
        lists.steps.push_back(++m_steps[i]);
        if (fused())
            lists.stepTensors.push_back(m_stepTensors[i]);
    }
    if (!lists.parameters.empty())
        update(lists, learningRate);
}

Optimizer::State ListOptimizer::state() const
{
    State state;
    for (std::size_t slot = 0; slot < m_slots.size(); ++slot)
        for (std::size_t i = 0; i < m_parameters.size(); ++i)
            state.emplace_back(slotName(m_names[slot].name, i), m_slots[slot][i]);
    state.emplace_back("steps", at::tensor(m_steps, at::kLong));
    return state;
}

void ListOptimizer::setState(const State& state)
{
    const at::NoGradGuard noGradients;
    const std::unordered_map<std::string, at::Tensor> all(state.begin(), state.end());
    for (std::size_t slot = 0; slot < m_slots.size(); ++slot)
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            const at::Tensor& saved = find(all, slotName(m_names[slot].name, i));
            if (saved.sizes() != m_slots[slot][i].sizes())
                profiler::throwError<"checkpoint.optimizer_shape",
                                     "The checkpoint belongs to another model: '{name}' of its optimizer has the shape "
                                     "{saved}, not {shape}">(Error::Code::Invalid, {}, {},
                                                             {{"name", slotName(m_names[slot].name, i)},
                                                              {"saved", c10::str(saved.sizes())},
                                                              {"shape", c10::str(m_slots[slot][i].sizes())}});
            m_slots[slot][i].copy_(saved);
        }
    const at::Tensor steps = find(all, "steps");
    if (steps.numel() != static_cast<std::int64_t>(m_steps.size()))
        profiler::throwError<"checkpoint.optimizer_size",
                             "The checkpoint belongs to another model: its optimizer has {saved} parameters, not "
                             "{count}">(Error::Code::Invalid, {}, {},
                                        {{"saved", steps.numel()}, {"count", m_steps.size()}});
    for (std::size_t i = 0; i < m_steps.size(); ++i) {
        m_steps[i] = steps[static_cast<std::int64_t>(i)].item<std::int64_t>();
        if (fused())
            m_stepTensors[i].fill_(m_steps[i]);
    }
}

} // namespace trainer::optimizers
