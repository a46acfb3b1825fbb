#include "trainer/schedules/schedule.h"

namespace trainer::schedules {

ScheduleKind constant()
{
    return {"Constant", "The same rate in every step, after the warm-up.",
            [](std::int64_t, const ScheduleOptions& options) { return options.learningRate; }, true};
}

} // namespace trainer::schedules
