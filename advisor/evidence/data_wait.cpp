#include "advisor/evidence/data_wait.h"

#include "advisor/evidence/run_facts.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace advisor {

using profiler::message;

namespace {

std::optional<int> recordedNumber(const RuleContext& c, std::string_view key)
{
    const std::string_view text = metadata(c.trace, key);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && error == std::errc() ? std::optional(number) : std::nullopt;
}

} // namespace

std::optional<Advice> littleDataWaitWithoutSteps(const RuleContext& c, double least)
{
    if (!analyzesWithoutSteps(c))
        return std::nullopt;
    const double share = c.facts.device.idleShare("data_loader");
    if (share >= least)
        return std::nullopt;
    return silent(message<"loader.without_steps", "The GPU idles for only {share} of the recorded time because it "
                                                  "waits for data. The trace has no steps, so this is not per step.">(
        {{"share", share, shareText(share)}}));
}

bool analyzesWithoutSteps(const RuleContext& c)
{
    return !c.config && c.facts.steps.empty() && c.facts.device.hasWork();
}

std::vector<profiler::analysis::Step> windowAsStep(const RuleContext& c)
{
    using profiler::TrackKind;
    const auto tracks = c.trace.tracks();
    auto thread = std::find_if(tracks.begin(), tracks.end(),
                               [](const profiler::Track& track) { return track.kind == TrackKind::MainThread; });
    if (thread == tracks.end())
        thread = std::find_if(tracks.begin(), tracks.end(),
                              [](const profiler::Track& track) { return track.kind == TrackKind::Thread; });
    if (thread == tracks.end() || c.facts.device.window.empty())
        return {};
    profiler::analysis::Step step;
    step.range = {c.facts.device.window.front().begin, c.facts.device.window.back().end};
    step.slice.track = thread->id;
    step.found = true; // without a mark of a process, all workers belong to this one
    return {step};
}

int loaderWorkers(const RuleContext& c)
{
    if (c.config)
        return static_cast<int>((*c.config)[config::key::workers]);
    return recordedNumber(c, config::key::workers.name).value_or(c.facts.input.workers);
}

std::optional<int> loaderPrefetchFactor(const RuleContext& c)
{
    if (c.config)
        return static_cast<int>((*c.config)[config::key::prefetchFactor]);
    const auto factor = recordedNumber(c, config::key::prefetchFactor.name);
    return factor.value_or(0) > 0 ? factor : std::nullopt;
}

} // namespace advisor
