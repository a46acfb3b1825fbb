#pragma once

#include "advisor/experiment/experiment.h"

#include <optional>
#include <string>

/// The texts of the result of an experiment: the reason for its verdict, whether the prediction held, and values for
/// tables, with a dash for unknown ones.
namespace advisor {

/// "1.430 (1.400–1.460)"
std::string ratioText(const Interval& ratio);
/// "12.1–20.4 ms", "at most 95.0 MB"
std::string predictedText(const std::optional<Saving>& saving);
/// The quantity that the verdict is about, time, memory or loss: "12.3 ms (10.6 ms to 13.8 ms)".
std::string measuredText(const ExperimentResult& result);

/// The reason for the verdict in one sentence. Uses all other fields of the result.
/// @param outOfTime the time budget ended the experiment before its last look
profiler::Message verdictReason(const ExperimentResult& result, bool outOfTime);

/// What a reader has to know in addition to the reason: the horizon of a screening, rescaled settings, repeated pairs,
/// a warm-up that did not end, trainers that ran one at a time.
std::vector<profiler::Message> verdictNotes(const ExperimentResult& result);

/// "1.43 (95 % interval 1.40–1.46)".
std::string intervalText(const Interval& interval);

/// The predicted saving, converted to the machine of the experiment: a time saving is the same share of the baseline's
/// time here as in the trace, if that is known. No value if nothing was predicted, or if the experiment measured
/// another quantity.
std::optional<Saving> predictedHere(const ExperimentResult& result);

/// Whether the prediction was correct: true if the predicted interval contains the measured mean (or the upper bound is
/// above it); false if it is outside the whole 95 % interval of the measurement. No value in between, if the
/// measurement is too imprecise to decide, or if nothing was predicted or measured.
std::optional<bool> predictionHeld(const ExperimentResult& result);

} // namespace advisor
