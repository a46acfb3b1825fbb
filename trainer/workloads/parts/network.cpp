#include "trainer/workloads/parts/network.h"

#include "stepscope_training_workloads_registry.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace trainer {

namespace key = config::key;
using profiler::Error;
using profiler::Result;

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

Workload workload(const config::TrainingConfig& config)
{
    for (const auto& [stem, entry] : workloads::all())
        if (stem == config[key::workload])
            return entry;
    // The knob table has a workload without a file.
    throw std::logic_error("no file defines '" + config[key::workload] + "'");
}

std::string listed(const std::vector<data::DataKind>& kinds)
{
    std::string text;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        text += std::string(i == 0 ? "" : i + 1 == kinds.size() ? " or " : ", ") + std::string(toText(kinds[i]));
    return text;
}

ModelSize sizeOf(const std::string& name)
{
    if (name == "tiny")
        return ModelSize::Tiny;
    if (name == "small")
        return ModelSize::Small;
    return name == "base" ? ModelSize::Base : ModelSize::Large;
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

ModelOptions modelOptions(const config::TrainingConfig& config, const data::SampleSpec& spec)
{
    ModelOptions options;
    options.data = spec;
    options.size = sizeOf(config[key::modelSize]);
    options.width = config[key::modelWidth];
    options.depth = config[key::modelDepth];
    const std::string& norm = config[key::modelNorm];
    options.norm = norm == "batch" ? NormKind::Batch : norm == "group" ? NormKind::Group : NormKind::None;
    options.layerBias = config[key::convBias];
    options.mathAttention = config[key::attention] == "math";
    options.fusePointwise = config[key::fusePointwise];
    options.path = config[key::modelPath];
    options.trustedSha256 = config[key::trustedSha256];
    options.loss = config[key::modelLoss];
    options.inputShapes = config[key::inputShapes];
    return options;
}

Result<void> fits(const config::TrainingConfig& config, const data::SampleSpec& spec, std::string_view dataset)
{
    const Workload wanted = workload(config);
    if (std::find(wanted.takes.begin(), wanted.takes.end(), spec.kind) == wanted.takes.end())
        return profiler::fail<"model.dataset",
                              "the model and the dataset do not match: {model} takes {takes}, but {dataset} gives "
                              "{gives}">(Error::Code::Invalid,
                                         "workload=" + config[key::workload] + ", dataset.kind=" + config[key::dataset],
                                         "choose another workload or another dataset.kind",
                                         {{"model", wanted.title},
                                          {"takes", listed(wanted.takes)},
                                          {"dataset", dataset},
                                          {"gives", toText(spec.kind)}});
    return wanted.check ? wanted.check(modelOptions(config, spec)) : Result<void>();
}

std::shared_ptr<Network> makeNetwork(const config::TrainingConfig& config, const data::SampleSpec& spec)
{
    return workload(config).make(modelOptions(config, spec));
}

} // namespace trainer
