#pragma once

#include "advisor/experiment/losses.h"
#include "app/charts/xy_chart.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <vector>

/// Charts of the loss: of the two arms of an experiment, and of two traces.
namespace app {

enum class LossOver { Time, Samples, StepCount };

/// The loss of both arms: the mean over the seeds, with a band from the lowest to the highest.
/// @param over  Time or Samples
XyChart::Content lossOfArms(const std::vector<advisor::LossesOfSeed>& seeds, LossOver over);

/// The losses that a trace records, at most kMostTracePoints means.
struct TraceLoss {
    QString name; ///< of the trace
    struct Point {
        double seconds = 0; ///< since the first step
        double steps = 0;   ///< completed
        double loss = 0;
    };
    std::vector<Point> points;
    std::int64_t samplesPerStep = 0; ///< 0: unknown
};
inline constexpr std::size_t kMostTracePoints = 500; ///< more than a chart has columns

/// Values that are not finite are left out. O(samples of the counter); on any thread.
TraceLoss lossOfTrace(const profiler::Trace& trace, const std::vector<profiler::analysis::Step>& steps);
/// @param over  Samples only if the samples per step of both are known
XyChart::Content lossOfTraces(const TraceLoss& other, const TraceLoss& shown, LossOver over);

} // namespace app
