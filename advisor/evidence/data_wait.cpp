#include "advisor/evidence/data_wait.h"

#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <charconv>
#include <string_view>

namespace advisor {

using profiler::message;

namespace {

std::optional<int> recordedNumber(const Case& c, std::string_view key)
{
    const std::string_view text = metadata(c.trace, key);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && error == std::errc() ? std::optional(number) : std::nullopt;
}

} // namespace

std::optional<Advice> littleDataWaitWithoutSteps(const Case& c, double least)
{
    if (c.config || !c.facts.steps.empty() || !c.facts.device.hasWork())
        return std::nullopt;
    const double share = c.facts.device.idleShare("data_loader");
    if (share >= least)
        return std::nullopt;
    return silent(message<"loader.without_steps",
                          "The GPU idles only {share} of the recorded time for want of data. The trace has no steps, so "
                          "this is not per step.">({{"share", share, shareText(share)}}));
}

int loaderWorkers(const Case& c)
{
    if (c.config)
        return static_cast<int>((*c.config)[config::key::workers]);
    return recordedNumber(c, config::key::workers.name).value_or(c.facts.input.workers);
}

std::optional<int> loaderPrefetchFactor(const Case& c)
{
    if (c.config)
        return static_cast<int>((*c.config)[config::key::prefetchFactor]);
    const auto factor = recordedNumber(c, config::key::prefetchFactor.name);
    return factor.value_or(0) > 0 ? factor : std::nullopt;
}

} // namespace advisor
