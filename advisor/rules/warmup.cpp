#include "advisor/advice.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"

namespace advisor::rules {
namespace {

using namespace profiler;

constexpr std::string_view kKey = "warmup";
// Minimum share of the recorded time. Chosen: 5 %, as in other rules; with less warm-up, a mean differs from the steady
// state by less than steps usually vary.
constexpr double kMinimumShare = 0.05;

Message reasonOf(const RuleContext& c, const RecordedWarmUp& found)
{
    if (c.facts.steps.empty())
        return message<"warmup.without_steps",
                       "Warm-up takes {share} of the recorded time: {causes}. It is excluded from the findings; the "
                       "trace has no steps, so this is not per step.">(
            {{"share", found.share(), shareText(found.share())},
             {"causes", found.causesText()},
             {"time", found.oneTimeUs, timeText(found.oneTimeUs)}});
    return message<"warmup.recorded", "Warm-up takes {share} of the recorded steps: {causes}. The first {steps} of "
                                      "{all} steps are excluded from the steady state.">(
        {{"share", found.share(), shareText(found.share())},
         {"causes", found.causesText()},
         {"steps", found.steps},
         {"all", c.facts.steps.size()},
         {"time", found.oneTimeUs, timeText(found.oneTimeUs)},
         {"excess", found.excessUs, timeText(found.excessUs)}});
}

Advice finding(const RuleContext& c, const RecordedWarmUp& found)
{
    Advice advice = fires(reasonOf(c, found));
    advice.whyNoPrediction = message<"warmup.no_prediction", "Warm-up happens once: steady steps do not contain it.">();
    advice.whyNoToggle = message<"warmup.no_toggle", "No setting removes it: record later steps, or more of them.">();
    advice.caveats = {
        message<"warmup.timings", "Do not compare the mean over all steps with that of another recording.">()};
    addEvidence(advice, c.trace, found.longest());
    return advice;
}

Advice check(const RuleContext& c)
{
    const RecordedWarmUp found = recordedWarmUp(c);
    if (c.facts.steps.empty() && !c.facts.device.hasWork())
        return cannotTell(message<"warmup.not_recorded", "The trace has neither steps nor GPU work.">(), Need::Steps);
    if (found.share() >= kMinimumShare)
        return finding(c, found);
    if (found.steps > 0)
        return silent(message<"warmup.excluded",
                              "The first {steps} of {all} steps are warm-up and are excluded from the steady state.">(
            {{"steps", found.steps}, {"all", c.facts.steps.size()}}));
    if (!recordsHost(c.trace))
        return cannotTell(message<"warmup.no_host",
                                  "The trace does not record the CPU, so one-time work of the host is not visible.">(),
                          Need::KernelsAndHost);
    return silent(message<"warmup.none", "The recording contains no significant warm-up.">());
}

} // namespace

Rule warmup()
{
    return {kKey, "The recording contains warm-up", check};
}

} // namespace advisor::rules
