#pragma once

#include "advisor/experiment/experiment.h"

#include <optional>

namespace advisor {

/// The saving that was predicted for what was measured, as the experiment's machine would have it: of a time, the share
/// that was predicted of what the baseline took here, where it is known what that was in the trace. No value where
/// nothing was predicted, or something else.
std::optional<Saving> predictedHere(const ExperimentResult& result);

/// Whether the measured saving lies in that range, or below an upper bound; no value without either.
std::optional<bool> predictionHeld(const ExperimentResult& result);

} // namespace advisor
