#pragma once

#include "advisor/experiment/experiment.h"

#include <optional>

namespace advisor {

/// The predicted saving, converted to the machine of the experiment: a saving of time is the same share of the
/// baseline's time here as it was of the time in the trace, where that is known. No value where nothing was predicted,
/// or where the experiment measured another quantity than the predicted one.
std::optional<Saving> predictedHere(const ExperimentResult& result);

/// Whether the prediction held: true where the predicted interval contains the measured mean (or the upper bound is above
/// it), false where it lies outside the whole 95 % interval of the measurement. No value in between, where the measurement
/// is too imprecise to decide, and where nothing was predicted or measured.
std::optional<bool> predictionHeld(const ExperimentResult& result);

} // namespace advisor
