#pragma once

#include "advisor/experiment/difference.h"
#include "app/look/kind_palette.h"
#include "profiler/model/trace.h"

#include <QString>
#include <stop_token>
#include <vector>

namespace app {

/// A comparison of the trace on screen (b) with another (a).
struct Comparison {
    /// An item whose time per step differs.
    struct Moved {
        QString what; ///< "phase", "operator", "kernel"
        QString name;
        double aUs = 0, bUs = 0; ///< per step; for the whole trace if a trace has no steps
        SliceClass swatch = SliceClass::Other;
    };
    advisor::Difference difference;
    std::vector<double> aStepsUs, bStepsUs; ///< durations of the steps that the statistic covers, in order
    std::vector<Moved> moved;               ///< largest change first
};

/// Makes several passes over both traces; do not call on the GUI thread.
/// @param stop  once requested, the remaining passes are skipped and the result must be discarded
Comparison compareTraces(const profiler::Trace& a, const profiler::Trace& b,
                         const std::vector<profiler::analysis::Step>& stepsA,
                         const std::vector<profiler::analysis::Step>& stepsB, const std::stop_token& stop = {});

} // namespace app
