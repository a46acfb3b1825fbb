#include "advisor/prediction.h"

#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace advisor {

namespace {

constexpr double kWidest = 0.5; // of the middle, to either side
// µs: less is printed as zero.
constexpr double kLeastTime = 0.005;

double leastThatShows(SavingUnit unit)
{
    return unit == SavingUnit::Bytes ? 1 : kLeastTime;
}

} // namespace

void settlePrediction(Advice& advice)
{
    if (!advice.saving)
        return;
    const Saving saving = *advice.saving;
    if (advice.state == State::Fires && saving.high < leastThatShows(saving.unit)) {
        std::string title = std::move(advice.title);
        advice = silent(advice.reason.text + " By this trace there is nothing to save.");
        advice.title = std::move(title);
        return;
    }
    const double reach = std::max(saving.high - saving.mid, saving.mid - saving.low);
    if (saving.mid > 0 && reach <= kWidest * saving.mid * (1 + 1e-9))
        return;
    const auto text = [&](double value) {
        return saving.unit == SavingUnit::Bytes ? bytesText(std::llround(value)) : timeText(value);
    };
    const bool fromNothing = std::abs(saving.low) < leastThatShows(saving.unit);
    const std::string range = fromNothing ? fmt::format("up to {}", text(saving.high))
                                          : fmt::format("from {} to {}", text(saving.low), text(saving.high));
    advice.whyNoPrediction =
        fmt::format("By this trace it saves anything {}: too wide a range to promise. Measure it.", range);
    advice.saving.reset();
}

} // namespace advisor
