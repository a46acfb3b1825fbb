#include "advisor/tuner/tune_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor {

bool isRatioMeasured(const TuneOutcome& result)
{
    // If no kept change contributed a ratio, it is exactly 1.
    return result.whole || result.ratio.low < result.ratio.high;
}

bool isShownFaster(const TuneOutcome& result)
{
    return isRatioMeasured(result) && result.ratio.low > 1;
}

std::string tuneSummary(const TuneOutcome& result)
{
    const auto count = [&](auto takes) { return std::count_if(result.trials.begin(), result.trials.end(), takes); };
    const auto kept = count([](const TuneTrial& trial) { return trial.outcome == TuneTrial::Outcome::Kept; });
    const auto measured = count([](const TuneTrial& trial) { return trial.result.has_value(); });
    if (result.trials.empty())
        return "No change was tried: the settings stay as they are.";
    if (measured == 0)
        return "No tried change could be measured: the settings stay as they are.";
    const std::string changes = fmt::format("{} {}", measured, measured == 1 ? "change" : "changes");
    if (kept == 0)
        return fmt::format("Measured {}; none was shown to pay: the settings stay as they are.", changes);
    if (!isRatioMeasured(result))
        return fmt::format("{} of {} kept; their total effect on samples per second was not measured.", kept, changes);
    if (!isShownFaster(result))
        return fmt::format("{} of {} kept; together they are not shown to be faster: {:.2f} × the samples per second (at "
                           "least {:.2f}, at most {:.2f}).",
                           kept, changes, result.ratio.value, result.ratio.low, result.ratio.high);
    return fmt::format("{:.2f} × the samples per second (at least {:.2f}, at most {:.2f}): {} of {} kept.",
                       result.ratio.value, result.ratio.low, result.ratio.high, kept, changes);
}

std::string changesText(const TuneTrial& trial)
{
    std::string text = fmt::format("{} = {}", trial.change.key, trial.change.to);
    for (const Toggle& change : trial.with)
        text += fmt::format(", {} = {}", change.key, change.to);
    return text;
}

std::string_view trialVerdict(const TuneTrial& trial)
{
    return trial.outcome == TuneTrial::Outcome::Dropped && trial.result ? verdictName(trial.result->verdict)
                                                                        : outcomeName(trial.outcome);
}

} // namespace advisor
