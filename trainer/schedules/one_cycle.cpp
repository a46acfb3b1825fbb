#include "trainer/schedules/schedule.h"

#include <algorithm>
#include <cmath>

namespace trainer::schedules {

namespace {

// Smith 2018: two equal halves between a tenth of the highest rate and the highest, then a decrease to the final
// fraction over the rest of the training. As torch.optim.lr_scheduler.OneCycleLR with three phases and linear
// annealing.
double rate(std::int64_t step, const ScheduleOptions& options)
{
    const double last = std::max(static_cast<double>(options.totalSteps - 1), 1.0), now = static_cast<double>(step);
    const double top = std::max(static_cast<double>(options.totalSteps) * options.cycleShare / 2 - 1, 1e-9);
    const double bottom = std::min(2 * top, last);
    const double highest = options.learningRate, lowest = highest * options.lowestShare,
                 end = highest * options.finalShare;
    if (now <= top)
        return lowest + (highest - lowest) * now / top;
    if (now <= bottom)
        return highest + (lowest - highest) * (now - top) / (bottom - top);
    return last > bottom ? lowest + (end - lowest) * std::min((now - bottom) / (last - bottom), 1.0) : end;
}

} // namespace

ScheduleKind one_cycle()
{
    return {"One cycle",
            "Rises to the highest rate and falls back in two equal halves, then falls far below "
            "the start.",
            rate, false};
}

} // namespace trainer::schedules
