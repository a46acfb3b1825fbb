#pragma once

#include "advisor/experiment/experiment.h"

namespace advisor {

/// The reason for the verdict in one sentence. Uses all other fields of the result.
/// @param outOfTime the time budget ended the experiment before its last look
profiler::Message verdictReason(const ExperimentResult& result, bool outOfTime);

/// What a reader has to know in addition to the reason: the horizon of a screening, rescaled settings, repeated pairs,
/// a warm-up that did not end, trainers that ran one at a time.
std::vector<profiler::Message> verdictNotes(const ExperimentResult& result);

/// "1.43 (95 % interval 1.40–1.46)".
std::string intervalText(const Interval& interval);

} // namespace advisor
