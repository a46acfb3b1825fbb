#pragma once

#include <ATen/core/Tensor.h>
#include <string_view>

namespace trainer {

/// The result of a forward pass: predictions and their targets, which a model may create itself (masked tokens).
struct Pass {
    at::Tensor predictions, targets;
    /// Detached from the graph.
    [[nodiscard]] Pass detached() const { return {predictions.detach(), targets.detach()}; }
};

/// The training objective of a model: its loss, and its metric for users.
enum class Objective {
    Classes, ///< samples × classes, one target class each. Cross-entropy; accuracy
    Tokens, ///< samples × positions × vocabulary, one target id each, without kIgnored ones. Cross-entropy; perplexity
    Segments, ///< samples × classes × positions, one target class per position. Cross-entropy and soft Dice; Dice
    Numbers,  ///< any shape, with numeric targets of the same shape. Mean squared error; its square root
    Given,    ///< the model returns its loss: predictions is a scalar. The metric is the loss again
};
/// Marks targets that are not predicted.
inline constexpr std::int64_t kIgnored = -100;

/// Mean over all predictions, in float for any type of predictions: sums over classes need the precision.
at::Tensor lossOf(Objective objective, const Pass& pass);

/// Sums over a batch; the metric is computed from the sums of many batches.
struct Measured {
    at::Tensor sum;    ///< scalar, on the device
    at::Tensor weight; ///< the same; undefined if `count` is the weight, which needs no read from the device
    double count = 0;
};
/// Detached from the graph.
Measured measure(Objective objective, const Pass& pass, const at::Tensor& loss);
/// Computes the metric from the sums of many batches.
double metricValue(Objective objective, double sum, double weight);
/// "accuracy", "perplexity", "dice", "rmse", "loss".
std::string_view metricName(Objective objective);

} // namespace trainer
