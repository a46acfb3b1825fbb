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
    /// Something that takes more or less time in a step.
    struct Moved {
        QString what; ///< "phase", "operator", "kernel"
        QString name;
        double aUs = 0, bUs = 0; ///< a step's; the whole trace's where one has no steps
        SliceClass swatch = SliceClass::Other;
    };
    advisor::Difference difference;
    std::vector<double> aStepsUs, bStepsUs; ///< durations of the steps that the verdict's statistic covers, in order
    std::vector<Moved> moved;               ///< largest change first
};

/// Several passes over both traces: off the GUI thread.
/// @param stop  once requested, the passes that have not begun are left out: the result is to be discarded
Comparison compareTraces(const profiler::Trace& a, const profiler::Trace& b,
                         const std::vector<profiler::analysis::Step>& stepsA,
                         const std::vector<profiler::analysis::Step>& stepsB, const std::stop_token& stop = {});

} // namespace app
