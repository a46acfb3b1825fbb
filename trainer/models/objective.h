#pragma once

#include <ATen/core/Tensor.h>
#include <string_view>

namespace trainer {

/// What a forward pass gives: predictions, and the targets that they are held against, which a model may make itself
/// (masked tokens).
struct Pass {
    at::Tensor predictions, targets;
    /// Without the graph.
    [[nodiscard]] Pass detached() const { return {predictions.detach(), targets.detach()}; }
};

/// What a model is trained for: its loss, and the number that people judge it by.
enum class Objective {
    Classes, ///< samples × classes, against a class each. Cross-entropy; accuracy
    Tokens, ///< samples × positions × vocabulary, against an id each, kIgnored ones left out. Cross-entropy; perplexity
    Voxels,  ///< samples × classes × space, against a class each. Cross-entropy and soft Dice; Dice coefficient
    Numbers, ///< any shape, against numbers of the same shape. Mean squared error; root of it
    Given,   ///< the model gives its loss: predictions is a number. No metric of its own: the loss again
};
/// Targets that are not predicted.
inline constexpr std::int64_t kIgnored = -100;

/// Mean over what is predicted, in float whatever the predictions are: sums over classes need the digits.
at::Tensor lossOf(Objective objective, const Pass& pass);

/// Sums over a batch from which the metric of many batches comes.
struct Measured {
    at::Tensor sum;    ///< no dimensions, on the device
    at::Tensor weight; ///< the same; undefined where `count` says it without asking the device
    double count = 0;
};
/// Without the graph.
Measured measure(Objective objective, const Pass& pass, const at::Tensor& loss);
/// From the sums of many batches.
double metricValue(Objective objective, double sum, double weight);
/// "accuracy", "perplexity", "dice", "rmse", "loss".
std::string_view metricName(Objective objective);

} // namespace trainer
