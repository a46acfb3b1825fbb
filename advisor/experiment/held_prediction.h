#pragma once

#include "advisor/experiment/experiment.h"

#include <optional>

namespace advisor {

/// The predicted saving, converted to the machine of the experiment: a time saving is the same share of the baseline's
/// time here as in the trace, if that is known. No value if nothing was predicted, or if the experiment measured
/// another quantity.
std::optional<Saving> predictedHere(const ExperimentResult& result);

/// Whether the prediction was correct: true if the predicted interval contains the measured mean (or the upper bound is
/// above it); false if it is outside the whole 95 % interval of the measurement. No value in between, if the
/// measurement is too imprecise to decide, or if nothing was predicted or measured.
std::optional<bool> predictionHeld(const ExperimentResult& result);

} // namespace advisor
