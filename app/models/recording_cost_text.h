#pragma once

#include "profiler/analysis/recording_cost.h"

#include <QString>
#include <optional>

namespace app {

/// What recording costs, with what the percentage refers to.
struct RecordingCostContext {
    QString level;                   ///< "full": the recording level that causes the cost; empty: not known
    double recordedShare = 1;        ///< of all steps, those that record operators, [0, 1]
    std::optional<double> otherLoad; ///< share of all cores that other processes used meanwhile; none: not known
};

/// "Recording at level full adds 3.1 % to a step with operators, 0.3 % to the run"; says when the figure is noisy.
QString recordingCostFigure(const profiler::analysis::RecordingCost& cost, const RecordingCostContext& context);
/// The same with the interval, the number of steps and the sources of noise.
QString recordingCostSentence(const profiler::analysis::RecordingCost& cost, const RecordingCostContext& context);

} // namespace app
