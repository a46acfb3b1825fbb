#include "trainer/optimizers/parts/families.h"

#include "profiler/model/result.h"

#include <ATen/ATen.h>
#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace trainer::optimizers {

namespace {

using Implementation = OptimizerOptions::Implementation;
using profiler::Error;

using Tensors = std::vector<at::Tensor>;

/// Arithmetic on lists of tensors, so that each formula is written once: one operator per tensor, or one for the whole
/// list (`_foreach_…`), which needs far fewer launches. Both round in the same way. In place: the first argument
/// changes.
class ListMath {
public:
    explicit ListMath(bool foreach) : m_foreach(foreach) {}

    void multiply(Tensors& a, double factor) const;
    /// a += factor · b
    void add(Tensors& a, const Tensors& b, double factor = 1) const;
    /// a += factor · b · c
    void addProduct(Tensors& a, const Tensors& b, const Tensors& c, double factor) const;
    /// a += factors[i] · b / c
    void addQuotient(Tensors& a, const Tensors& b, const Tensors& c, const std::vector<double>& factors) const;
    /// a += weight · (b − a)
    void lerp(Tensors& a, const Tensors& b, double weight) const;
    /// √a / divisors[i] + epsilon, as new tensors
    [[nodiscard]] Tensors rootPlus(const Tensors& a, const std::vector<double>& divisors, double epsilon) const;
    /// a + factor · b, as new tensors
    [[nodiscard]] Tensors sum(const Tensors& a, const Tensors& b, double factor) const;
    /// a / divisor (a scalar on the device), as new tensors
    [[nodiscard]] Tensors quotient(const Tensors& a, const at::Tensor& divisor) const;
    /// The Euclidean norm of each tensor, as scalar tensors; nothing is read back from the device.
    [[nodiscard]] Tensors norms(const Tensors& a) const;

private:
    bool m_foreach;
};

std::vector<at::Scalar> scalars(const std::vector<double>& values)
{
    return {values.begin(), values.end()};
}

void ListMath::multiply(Tensors& a, double factor) const
{
    if (m_foreach)
        return at::_foreach_mul_(a, factor);
    for (at::Tensor& tensor : a)
        tensor.mul_(factor);
}

void ListMath::add(Tensors& a, const Tensors& b, double factor) const
{
    if (m_foreach)
        return at::_foreach_add_(a, b, factor);
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i].add_(b[i], factor);
}

void ListMath::addProduct(Tensors& a, const Tensors& b, const Tensors& c, double factor) const
{
    if (m_foreach)
        return at::_foreach_addcmul_(a, b, c, factor);
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i].addcmul_(b[i], c[i], factor);
}

void ListMath::addQuotient(Tensors& a, const Tensors& b, const Tensors& c, const std::vector<double>& factors) const
{
    if (m_foreach)
        return at::_foreach_addcdiv_(a, b, c, scalars(factors));
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i].addcdiv_(b[i], c[i], factors[i]);
}

void ListMath::lerp(Tensors& a, const Tensors& b, double weight) const
{
    if (m_foreach)
        return at::_foreach_lerp_(a, b, weight);
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i].lerp_(b[i], weight);
}

Tensors ListMath::rootPlus(const Tensors& a, const std::vector<double>& divisors, double epsilon) const
{
    Tensors result;
    if (m_foreach) {
        result = at::_foreach_sqrt(a);
        at::_foreach_div_(result, scalars(divisors));
        at::_foreach_add_(result, epsilon);
        return result;
    }
    for (std::size_t i = 0; i < a.size(); ++i)
        result.push_back(a[i].sqrt().div_(divisors[i]).add_(epsilon));
    return result;
}

Tensors ListMath::sum(const Tensors& a, const Tensors& b, double factor) const
{
    if (m_foreach)
        return at::_foreach_add(a, b, factor);
    Tensors result;
    for (std::size_t i = 0; i < a.size(); ++i)
        result.push_back(a[i].add(b[i], factor));
    return result;
}

Tensors ListMath::quotient(const Tensors& a, const at::Tensor& divisor) const
{
    if (m_foreach)
        return at::_foreach_div(a, divisor);
    Tensors result;
    for (const at::Tensor& tensor : a)
        result.push_back(tensor.div(divisor));
    return result;
}

Tensors ListMath::norms(const Tensors& a) const
{
    if (m_foreach)
        return at::_foreach_norm(a, 2);
    Tensors result;
    for (const at::Tensor& tensor : a)
        result.push_back(at::linalg_vector_norm(tensor, 2));
    return result;
}

/// numerator / denominator, or 1 if one of them is 0: the trust ratio of a layer. On the device.
at::Tensor ratioOrOne(const at::Tensor& numerator, const at::Tensor& denominator)
{
    const at::Tensor both = numerator.gt(0).logical_and(denominator.gt(0));
    return at::where(both, numerator / denominator, at::ones_like(numerator));
}

/// Common parts of our optimizers: the parameters with a gradient, their slots (such as momentum), their step counts,
/// and saving the state.
class ListOptimizer : public Optimizer {
public:
    /// A tensor that the optimizer keeps per parameter, initially zero.
    struct Slot {
        std::string_view name;
        bool perLayer = false; ///< one number per parameter instead of one per element
    };

    ListOptimizer(Tensors parameters, const OptimizerOptions& options, std::vector<Slot> slots);
    void step(double learningRate) final;
    [[nodiscard]] State state() const final;
    void setState(const State& state) final;

protected:
    /// The data of one step; all lists have the same length.
    struct Lists {
        Tensors parameters, gradients;
        std::vector<Tensors> slots;      ///< in the order of the constructor's slots
        std::vector<std::int64_t> steps; ///< number of this step for each parameter, from 1
        Tensors stepTensors;             ///< the same on the device, minus one: fused kernels count themselves
    };
    virtual void update(Lists& lists, double learningRate) = 0;

    [[nodiscard]] const OptimizerOptions& options() const { return m_options; }
    [[nodiscard]] const ListMath& math() const { return m_math; }
    [[nodiscard]] bool fused() const { return m_options.implementation == OptimizerOptions::Implementation::Fused; }

private:
    Tensors m_parameters;
    OptimizerOptions m_options;
    ListMath m_math;
    std::vector<Slot> m_names;
    std::vector<Tensors> m_slots; // by slot, then by parameter
    std::vector<std::int64_t> m_steps;
    Tensors m_stepTensors; // fused only
};

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

/// Biases and norms, which have one dimension, get no weight decay and no layer-wise rates: as in the papers on LARS
/// and LAMB.
bool isMatrix(const at::Tensor& parameter)
{
    return parameter.dim() > 1;
}

ListOptimizer::ListOptimizer(Tensors parameters, const OptimizerOptions& options, std::vector<Slot> slots)
    : m_parameters(std::move(parameters)), m_options(options),
      m_math(options.implementation != Implementation::ForLoop), m_names(std::move(slots)),
      m_steps(m_parameters.size(), 0)
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

class Sgd final : public ListOptimizer {
public:
    Sgd(Tensors parameters, const OptimizerOptions& options)
        : ListOptimizer(std::move(parameters), options,
                        options.momentum > 0 ? std::vector<Slot>{{"momentum"}} : std::vector<Slot>{})
    {
    }

private:
    void update(Lists& lists, double rate) override
    {
        const OptimizerOptions& o = options();
        if (fused()) {
            at::_fused_sgd_(lists.parameters, lists.gradients,
                            o.momentum > 0 ? at::TensorList(lists.slots[0]) : at::TensorList(), o.weightDecay,
                            o.momentum, rate, 0, o.momentum > 0 && o.nesterov, false, false);
            return;
        }
        Tensors g = lists.gradients;
        if (o.weightDecay > 0)
            g = math().sum(g, lists.parameters, o.weightDecay);
        if (o.momentum > 0) {
            Tensors& velocity = lists.slots[0];
            math().multiply(velocity, o.momentum);
            math().add(velocity, g);
            g = o.nesterov ? math().sum(g, velocity, o.momentum) : velocity;
        }
        math().add(lists.parameters, g, -rate);
    }
};

class Adam final : public ListOptimizer {
public:
    Adam(Tensors parameters, const OptimizerOptions& options, bool decoupled)
        : ListOptimizer(std::move(parameters), options, {{"mean"}, {"square"}}), m_decoupled(decoupled)
    {
    }

private:
    void update(Lists& lists, double rate) override
    {
        if (fused())
            return updateFused(lists, rate);
        const OptimizerOptions& o = options();
        Tensors g = lists.gradients;
        if (o.weightDecay > 0 && m_decoupled)
            math().multiply(lists.parameters, 1 - rate * o.weightDecay);
        else if (o.weightDecay > 0)
            g = math().sum(g, lists.parameters, o.weightDecay);
        Tensors &mean = lists.slots[0], &square = lists.slots[1];
        math().lerp(mean, g, 1 - o.beta1);
        math().multiply(square, o.beta2);
        math().addProduct(square, g, g, 1 - o.beta2);
        std::vector<double> factors, divisors;
        for (const std::int64_t step : lists.steps) {
            factors.push_back(-rate / (1 - std::pow(o.beta1, step)));
            divisors.push_back(std::sqrt(1 - std::pow(o.beta2, step)));
        }
        math().addQuotient(lists.parameters, mean, math().rootPlus(square, divisors, o.epsilon), factors);
    }

    void updateFused(Lists& lists, double rate)
    {
        const OptimizerOptions& o = options();
        at::_foreach_add_(lists.stepTensors, 1);
        if (m_decoupled)
            at::_fused_adamw_(lists.parameters, lists.gradients, lists.slots[0], lists.slots[1], {}, lists.stepTensors,
                              rate, o.beta1, o.beta2, o.weightDecay, o.epsilon, false, false);
        else
            at::_fused_adam_(lists.parameters, lists.gradients, lists.slots[0], lists.slots[1], {}, lists.stepTensors,
                             rate, o.beta1, o.beta2, o.weightDecay, o.epsilon, false, false);
    }

    bool m_decoupled;
};

// The optimizers below have layer-wise rates, for large batches.
void refuseFused(const OptimizerOptions& options)
{
    if (options.implementation == OptimizerOptions::Implementation::Fused)
        profiler::throwError<"optimizer.no_fused", "LibTorch has no fused kernel for this optimizer">(
            profiler::Error::Code::Unsupported, "optimizer.implementation", "set optimizer.implementation to foreach");
}

class Lars final : public ListOptimizer {
public:
    Lars(Tensors parameters, const OptimizerOptions& options)
        : ListOptimizer(std::move(parameters), options, {{"momentum"}})
    {
        refuseFused(options);
    }

private:
    void update(Lists& lists, double rate) override
    {
        const OptimizerOptions& o = options();
        const Tensors weightNorms = math().norms(lists.parameters), gradientNorms = math().norms(lists.gradients);
        Tensors updates = math().sum(lists.gradients, lists.parameters, o.weightDecay);
        for (std::size_t i = 0; i < updates.size(); ++i) {
            if (!isMatrix(lists.parameters[i])) {
                updates[i] = lists.gradients[i] * rate;
                continue;
            }
            const at::Tensor local =
                ratioOrOne(o.trustCoefficient * weightNorms[i], gradientNorms[i] + o.weightDecay * weightNorms[i]);
            updates[i].mul_(local * rate);
        }
        Tensors& velocity = lists.slots[0];
        math().multiply(velocity, o.momentum);
        math().add(velocity, updates);
        math().add(lists.parameters, velocity, -1);
    }
};

class Lamb final : public ListOptimizer {
public:
    Lamb(Tensors parameters, const OptimizerOptions& options, bool nvidia)
        : ListOptimizer(std::move(parameters), options, {{"mean"}, {"square"}}), m_nvidia(nvidia)
    {
        refuseFused(options);
    }

private:
    void update(Lists& lists, double rate) override
    {
        const OptimizerOptions& o = options();
        const Tensors g = m_nvidia ? normalised(lists.gradients) : lists.gradients;
        Tensors &mean = lists.slots[0], &square = lists.slots[1];
        math().lerp(mean, g, 1 - o.beta1);
        math().multiply(square, o.beta2);
        math().addProduct(square, g, g, 1 - o.beta2);
        std::vector<double> factors, divisors;
        for (const std::int64_t step : lists.steps) {
            factors.push_back(1 / (1 - std::pow(o.beta1, step)));
            divisors.push_back(std::sqrt(1 - std::pow(o.beta2, step)));
        }
        Tensors updates;
        for (const at::Tensor& parameter : lists.parameters)
            updates.push_back(isMatrix(parameter) ? parameter * o.weightDecay : at::zeros_like(parameter));
        math().addQuotient(updates, mean, math().rootPlus(square, divisors, o.epsilon), factors);
        const Tensors weightNorms = math().norms(lists.parameters), updateNorms = math().norms(updates);
        for (std::size_t i = 0; i < updates.size(); ++i)
            if (m_nvidia || isMatrix(lists.parameters[i]))
                updates[i].mul_(ratioOrOne(weightNorms[i], updateNorms[i]));
        math().add(lists.parameters, updates, -rate);
    }

    [[nodiscard]] Tensors normalised(const Tensors& gradients) const
    {
        const at::Tensor common = at::linalg_vector_norm(at::stack(math().norms(gradients)), 2);
        return math().quotient(gradients, common.clamp_min(1));
    }

    bool m_nvidia;
};

class Novograd final : public ListOptimizer {
public:
    Novograd(Tensors parameters, const OptimizerOptions& options)
        : ListOptimizer(std::move(parameters), options, {{"mean"}, {"square", true}})
    {
        refuseFused(options);
    }

private:
    void update(Lists& lists, double rate) override
    {
        const OptimizerOptions& o = options();
        const Tensors norms = math().norms(lists.gradients);
        Tensors &mean = lists.slots[0], &square = lists.slots[1];
        Tensors updates;
        for (std::size_t i = 0; i < norms.size(); ++i) {
            const at::Tensor squared = norms[i].square();
            if (lists.steps[i] == 1)
                square[i].copy_(squared);
            else
                square[i].mul_(o.beta2).add_(squared, 1 - o.beta2);
            updates.push_back(lists.gradients[i] / (square[i].sqrt() + o.epsilon));
        }
        math().add(updates, lists.parameters, o.weightDecay);
        math().multiply(mean, o.beta1);
        math().add(mean, updates);
        math().add(lists.parameters, mean, -rate);
    }
};

} // namespace

std::unique_ptr<Optimizer> makeSgd(Parameters parameters, const OptimizerOptions& options)
{
    return std::make_unique<Sgd>(std::move(parameters), options);
}

std::unique_ptr<Optimizer> makeAdam(Parameters parameters, const OptimizerOptions& options)
{
    return std::make_unique<Adam>(std::move(parameters), options, false);
}

std::unique_ptr<Optimizer> makeAdamW(Parameters parameters, const OptimizerOptions& options)
{
    return std::make_unique<Adam>(std::move(parameters), options, true);
}

std::unique_ptr<Optimizer> makeLars(Parameters parameters, const OptimizerOptions& options)
{
    return std::make_unique<Lars>(std::move(parameters), options);
}

std::unique_ptr<Optimizer> makeLamb(Parameters parameters, const OptimizerOptions& options)
{
    return std::make_unique<Lamb>(std::move(parameters), options, false);
}

std::unique_ptr<Optimizer> makeNvlamb(Parameters parameters, const OptimizerOptions& options)
{
    return std::make_unique<Lamb>(std::move(parameters), options, true);
}

std::unique_ptr<Optimizer> makeNovograd(Parameters parameters, const OptimizerOptions& options)
{
    return std::make_unique<Novograd>(std::move(parameters), options);
}

} // namespace trainer::optimizers
