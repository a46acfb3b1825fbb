#include "trainer/workloads/parts/objective.h"

#include <ATen/ATen.h>
#include <cmath>

namespace trainer {

namespace {

at::Tensor crossEntropy(const at::Tensor& scores, const at::Tensor& targets)
{
    return at::cross_entropy_loss(scores, targets, {}, at::Reduction::Mean, kIgnored);
}

/// Scores as samples × classes, with one row per position.
at::Tensor byPosition(const at::Tensor& scores)
{
    return scores.reshape({-1, scores.size(-1)});
}

/// Twice the intersection and the sum of both sets, over all classes except the first, which is the background.
struct Overlap {
    at::Tensor twice, both;
};

Overlap overlap(const at::Tensor& shares, const at::Tensor& truth)
{
    const std::int64_t classes = shares.size(1);
    const at::Tensor predicted = shares.narrow(1, 1, classes - 1), wanted = truth.narrow(1, 1, classes - 1);
    return {(predicted * wanted).sum() * 2, predicted.sum() + wanted.sum()};
}

at::Tensor oneHot(const at::Tensor& targets, std::int64_t classes)
{
    return at::one_hot(targets, classes).movedim(-1, 1).to(at::kFloat);
}

at::Tensor segmentationLoss(const at::Tensor& scores, const at::Tensor& targets)
{
    // Milletari et al., V-Net, 2016, for the Dice part; its sum with cross-entropy is nnU-Net's (Isensee et al., 2021).
    const Overlap soft = overlap(at::softmax(scores, 1), oneHot(targets, scores.size(1)));
    return crossEntropy(scores, targets) + 1 - (soft.twice + 1) / (soft.both + 1);
}

} // namespace

at::Tensor lossOf(Objective objective, const Pass& pass)
{
    // Gradients are checked in double precision.
    const at::Tensor predictions =
        pass.predictions.scalar_type() == at::kDouble ? pass.predictions : pass.predictions.to(at::kFloat);
    switch (objective) {
    case Objective::Classes:
        return crossEntropy(predictions, pass.targets);
    case Objective::Tokens:
        return crossEntropy(byPosition(predictions), pass.targets.reshape({-1}));
    case Objective::Segments:
        return segmentationLoss(predictions, pass.targets);
    case Objective::Numbers:
        return at::mse_loss(predictions, pass.targets);
    case Objective::Given:
        return predictions;
    }
    return {};
}

Measured measure(Objective objective, const Pass& pass, const at::Tensor& loss)
{
    const at::NoGradGuard noGradients;
    const auto samples = static_cast<double>(pass.targets.size(0));
    switch (objective) {
    case Objective::Classes:
        return {pass.predictions.argmax(1).eq(pass.targets).sum(), {}, samples};
    case Objective::Tokens: {
        const at::Tensor counted = pass.targets.ne(kIgnored).sum();
        return {loss * counted, counted, 0};
    }
    case Objective::Segments: {
        const std::int64_t classes = pass.predictions.size(1);
        const Overlap hard = overlap(oneHot(pass.predictions.argmax(1), classes), oneHot(pass.targets, classes));
        return {hard.twice, hard.both, 0};
    }
    case Objective::Numbers:
    case Objective::Given:
        return {loss * samples, {}, samples};
    }
    return {};
}

double metricValue(Objective objective, double sum, double weight)
{
    // Nothing was predicted, and there was nothing to predict.
    if (weight <= 0)
        return objective == Objective::Segments ? 1 : 0;
    const double mean = sum / weight;
    if (objective == Objective::Tokens)
        return std::exp(mean);
    return objective == Objective::Numbers ? std::sqrt(mean) : mean;
}

std::string_view metricName(Objective objective)
{
    switch (objective) {
    case Objective::Classes:
        return "accuracy";
    case Objective::Tokens:
        return "perplexity";
    case Objective::Segments:
        return "dice";
    case Objective::Numbers:
        return "rmse";
    case Objective::Given:
        return "loss";
    }
    return {};
}

} // namespace trainer
