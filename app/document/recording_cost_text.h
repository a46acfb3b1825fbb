#pragma once

#include "profiler/analysis/recording_cost.h"

#include <QString>
#include <optional>

namespace app {

/// The recording overhead and the context that its percentage refers to.
struct RecordingCostContext {
    QString level;                   ///< "full": the recording level; empty: unknown
    double recordedShare = 1;        ///< share of steps that record operators, [0, 1]
    std::optional<double> otherLoad; ///< share of all cores used by other processes at that time; none: unknown
};

/// "Recording at level full adds 3.1 % to a step with operators and 0.3 % to the run"; also says if the figure is
/// noisy.
QString recordingCostFigure(const profiler::analysis::RecordingCost& cost, const RecordingCostContext& context);
/// The same with the interval, the number of steps and the sources of noise.
QString recordingCostSentence(const profiler::analysis::RecordingCost& cost, const RecordingCostContext& context);

} // namespace app
