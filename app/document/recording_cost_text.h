#pragma once

#include "profiler/analysis/recording_cost.h"
#include "trainer/config/training_config.h"

#include <QString>
#include <optional>

/// Texts about the recording overhead: one figure, those of all levels for the form, and that of the trace on screen
/// for the status line.
namespace app {

class TraceDocument;

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

/// The overhead of each recording level, shown next to the choice of the level: the last measurement on this machine
/// with this workload and device, and its date; or that there is none.
QString levelCostText(const config::TrainingConfig& configuration);

/// The recording overhead of the trace on screen, measured by the run itself; at its start, from an earlier measurement
/// on this machine.
struct OverheadText {
    QString text; ///< "Recording at level full adds 3.1 % to a step with operators and 0.3 % to the run"; empty:
                  ///< unknown
    QString how;  ///< source of the figure, its uncertainty, and alternative levels
};
/// Iterates over all steps: do not call per frame.
OverheadText overheadText(const TraceDocument& document);

} // namespace app
