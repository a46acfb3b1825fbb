#include "trainer/schedules/schedule.h"

#include <algorithm>
#include <cmath>

namespace trainer::schedules {

namespace {

// Smith 2015, triangular; as torch.optim.lr_scheduler.CyclicLR.
double rate(std::int64_t step, const ScheduleOptions& options)
{
    const auto half = static_cast<double>(std::max<std::int64_t>(options.cycleSteps, 1));
    const double within = std::fmod(static_cast<double>(step), 2 * half) / half;
    const double height = within <= 1 ? within : 2 - within;
    const double lowest = options.learningRate * options.lowestShare;
    return lowest + (options.learningRate - lowest) * height;
}

} // namespace

ScheduleKind cyclic()
{
    return {"Cyclic", "Rises and falls linearly in cycles.", rate, false};
}

} // namespace trainer::schedules
