#pragma once

#include "advisor/experiment/difference.h"
#include "app/look/kind_palette.h"
#include "profiler/model/trace.h"

#include <QString>
#include <stop_token>
#include <vector>

namespace app {

/// Two traces beside each other: a is the one that the other is compared with.
struct Comparison {
    /// What takes more or less of a step.
    struct Moved {
        QString what; ///< "phase", "operator", "kernel"
        QString name;
        double aUs = 0, bUs = 0; ///< a step's; the whole trace's where one has no steps
        SliceClass swatch = SliceClass::Other;
    };
    advisor::Difference difference;
    std::vector<double> aStepsUs, bStepsUs; ///< of whole steps that are no warm-up, in order
    std::vector<Moved> moved;               ///< largest change first
};

/// Several passes over both traces: off the GUI thread.
/// @param stop  once requested, the passes that have not begun are left out: the result is to be discarded
Comparison compareTraces(const profiler::Trace& a, const profiler::Trace& b,
                         const std::vector<profiler::analysis::Step>& stepsA,
                         const std::vector<profiler::analysis::Step>& stepsB, const std::stop_token& stop = {});

} // namespace app
