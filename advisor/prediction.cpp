#include "advisor/prediction.h"

#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor {

namespace {

constexpr double kWidest = 0.5; // of the middle, to either side
// µs: less is printed as zero.
constexpr double kLeastTime = 0.005;

bool savesNothing(const Saving& saving)
{
    return saving.high < (saving.unit == SavingUnit::Bytes ? 1 : kLeastTime);
}

} // namespace

void settlePrediction(Advice& advice)
{
    if (!advice.saving)
        return;
    const Saving saving = *advice.saving;
    if (advice.state == State::Fires && savesNothing(saving)) {
        std::string title = std::move(advice.title);
        advice = silent(advice.reason + " By this trace there is nothing to save.");
        advice.title = std::move(title);
        return;
    }
    const double reach = std::max(saving.high - saving.mid, saving.mid - saving.low);
    if (saving.mid > 0 && reach <= kWidest * saving.mid * (1 + 1e-9))
        return;
    const auto text = [&](double value) {
        return saving.unit == SavingUnit::Bytes ? fmt::format("{:.0f} bytes", value) : timeText(value);
    };
    advice.whyNoPrediction =
        fmt::format("By this trace it saves anything from {} to {}: too wide a range to promise. Measure it.",
                    text(saving.low), text(saving.high));
    advice.saving.reset();
}

} // namespace advisor
