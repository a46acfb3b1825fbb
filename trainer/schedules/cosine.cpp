#include "trainer/schedules/schedule.h"

#include <algorithm>
#include <cmath>

namespace trainer::schedules {

namespace {

// Loshchilov and Hutter 2016, without restarts; as torch.optim.lr_scheduler.CosineAnnealingLR.
double rate(std::int64_t step, const ScheduleOptions& options)
{
    const double done = std::min(static_cast<double>(step) / static_cast<double>(options.totalSteps), 1.0);
    const double lowest = options.learningRate * options.finalShare;
    return lowest + (options.learningRate - lowest) * (1 + std::cos(M_PI * done)) / 2;
}

} // namespace

ScheduleKind cosine()
{
    return {"Cosine", "Falls along half a cosine to its final fraction.", rate, true};
}

} // namespace trainer::schedules
