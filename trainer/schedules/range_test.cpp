#include "trainer/schedules/schedule.h"

#include <algorithm>
#include <cmath>

namespace trainer::schedules {

namespace {

// Smith 2015, section 3.3, with the now common exponential rise.
double rate(std::int64_t step, const ScheduleOptions& options)
{
    const double last = std::max(static_cast<double>(options.totalSteps - 1), 1.0);
    const double done = std::min(static_cast<double>(step) / last, 1.0);
    return options.rangeLowest * std::pow(options.learningRate / options.rangeLowest, done);
}

} // namespace

ScheduleKind range_test()
{
    return {"Range test",
            "Rises exponentially from the lowest to the highest rate, to find where the loss falls fastest.", rate,
            false};
}

} // namespace trainer::schedules
