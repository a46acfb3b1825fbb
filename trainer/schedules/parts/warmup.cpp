#include "trainer/schedules/schedule.h"

#include <algorithm>

namespace trainer {

double learningRateAt(const ScheduleKind& kind, std::int64_t step, const ScheduleOptions& options)
{
    if (!kind.hasWarmup || options.warmupSteps == 0)
        return kind.rate(step, options);
    if (step < options.warmupSteps)
        return options.learningRate * static_cast<double>(step + 1) / static_cast<double>(options.warmupSteps);
    ScheduleOptions rest = options;
    rest.totalSteps = std::max<std::int64_t>(options.totalSteps - options.warmupSteps, 1);
    return kind.rate(step - options.warmupSteps, rest);
}

} // namespace trainer
