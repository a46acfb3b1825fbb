#include "trainer/schedules/schedule.h"

#include <algorithm>
#include <cmath>

namespace trainer::schedules {

namespace {

// As torch.optim.lr_scheduler.StepLR.
double rate(std::int64_t step, const ScheduleOptions& options)
{
    const auto falls = static_cast<double>(step / std::max<std::int64_t>(options.stepSize, 1));
    return options.learningRate * std::pow(options.gamma, falls);
}

} // namespace

ScheduleKind step()
{
    return {"Steps", "Is multiplied by a factor at regular intervals.", rate, true};
}

} // namespace trainer::schedules
