#include "trainer/optimizers/parts/families.h"
#include "trainer/optimizers/parts/list_optimizer.h"

#include <ATen/ATen.h>
#include <cmath>

// Optimizers that treat every element separately: SGD, Adam, AdamW.
namespace trainer::optimizers {

namespace {

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

} // namespace trainer::optimizers
