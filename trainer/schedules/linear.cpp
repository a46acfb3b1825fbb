#include "trainer/schedules/schedule.h"

#include <algorithm>
#include <cmath>

namespace trainer::schedules {

namespace {

// As torch.optim.lr_scheduler.LinearLR.
double rate(std::int64_t step, const ScheduleOptions& options)
{
    const double done = std::min(static_cast<double>(step) / static_cast<double>(options.totalSteps), 1.0);
    return options.learningRate * (1 + (options.finalShare - 1) * done);
}

} // namespace

ScheduleKind linear()
{
    return {"Linear", "Falls linearly to its final fraction.", rate, true};
}

} // namespace trainer::schedules
