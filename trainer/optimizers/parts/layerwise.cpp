#include "profiler/model/failure.h"
#include "trainer/optimizers/parts/families.h"
#include "trainer/optimizers/parts/list_optimizer.h"

#include <ATen/ATen.h>
#include <cmath>

// Optimizers with layer-wise rates, for large batches: LARS, LAMB, NVLAMB, NovoGrad.
namespace trainer::optimizers {

namespace {

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
