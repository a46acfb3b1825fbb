#include "advisor/advice.h"
#include "advisor/evidence/loss_curve.h"
#include "advisor/knob_changes.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "schedule.kind";
// Relative decrease of the loss: if it falls less than this in the last quarter of the run, training has converged at
// this learning rate.
constexpr double kStillFalls = 0.02;
// Relative decrease of the loss over the whole run: if it has fallen less than this, the model has not learned yet, and
// a schedule is not what is missing.
constexpr double kHasLearnt = 0.1;

Advice finding(const RuleContext& c, Message reason, const LossCurve& curve)
{
    Advice advice = firesOnLearning(std::move(reason));
    advice.caveats = {
        message<"schedule.kind.length", "A schedule must know the length of the whole training run.">(),
        message<"schedule.kind.hyperparameters",
                "It adds hyperparameters; OneCycle and CyclicLR need the learning rate that a range test finds.">()};
    setToggle(advice, c, kKey, "cosine");
    if (!curve.samples.empty())
        advice.evidence = evidenceOf(c, curve, {curve.samples.back()});
    if (advice.evidence.empty())
        addSteps(advice, c);
    return advice;
}

Advice check(const RuleContext& c)
{
    if (!c.config)
        return cannotTell(message<"schedule.kind.no_configuration",
                                  "The trace contains no configuration: the schedule is unknown.">(),
                          Need::Program);
    const std::string& schedule = (*c.config)[config::key::schedule];
    if (schedule != "constant")
        return silent(message<"schedule.kind.on", "The learning rate already follows a schedule ({schedule}).">(
            {{"schedule", schedule}}));
    const LossCurve curve = lossCurve(c);
    if ((*c.config)[config::key::lrScaling] != "none" && timesTheReferenceBatch(*c.config) >= 2 &&
        (*c.config)[config::key::warmupSteps] == 0)
        return finding(c,
                       message<"schedule.kind.no_warmup", "The learning rate was scaled with the batch size, and the "
                                                          "first steps use its full value: there is no warm-up.">(),
                       curve);
    const auto fall = curve.lastFall();
    if (!fall)
        return cannotTell(
            curve.samples.size() < LossCurve::kFewestSamples
                ? message<"schedule.kind.few_values", "The trace contains {values} loss values; {needed} are needed to "
                                                      "show whether the loss still falls.">(
                      {{"values", curve.samples.size()}, {"needed", LossCurve::kFewestSamples}})
                : message<"schedule.kind.nan",
                          "The loss is NaN for part of the run: whether it still falls cannot be determined.">(),
            Need::Longer);
    if (const auto whole = curve.totalFall(); !whole || *whole < kHasLearnt)
        return cannotTell(
            message<"schedule.kind.not_learning", "The loss has fallen only {fall} since the start: the cause may be "
                                                  "something other than the constant learning rate.">(
                {{"fall", std::max(0.0, whole.value_or(0)), shareText(std::max(0.0, whole.value_or(0)))}}),
            Need::Measurement);
    if (fall->share - fall->error < kStillFalls && fall->share + fall->error < 2 * kStillFalls)
        return finding(
            c,
            message<"schedule.kind.plateau",
                    "The loss has stopped falling at a constant learning rate: {fall} in the last quarter of the run.">(
                {{"fall", fall->share, shareText(fall->share)}}),
            curve);
    return silent(message<"schedule.kind.falls", "The loss still falls, or is too noisy to show that it does not "
                                                 "({fall} ± {error} in the last quarter of the run).">(
        {{"fall", fall->share, shareText(fall->share)}, {"error", fall->error, shareText(fall->error)}}));
}

} // namespace

Rule schedule_kind()
{
    return proposing("cosine", {kKey, "The learning rate is constant", check, Needs::Run});
}

} // namespace advisor::rules
