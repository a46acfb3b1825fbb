#include "advisor/batch_facts.h"
#include "advisor/loss_curve.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "schedule.kind";
// Of the loss: a training that gains less in a quarter of its time has arrived at what this rate can reach.
constexpr double kStillFalls = 0.02;
// Of the loss, over the whole run: a training that won less has not learnt yet, and what it lacks is no schedule.
constexpr double kHasLearnt = 0.1;

Advice finding(const Case& c, std::string reason, const LossCurve& curve)
{
    Advice advice = firesOnLearning(std::move(reason));
    advice.caveats = {"A schedule is planned for the whole training: it must know how long that is.",
                      "More hyper-parameters; OneCycle and CyclicLR want the rate that a range test finds."};
    setToggle(advice, c, kKey, "cosine");
    if (!curve.samples.empty())
        advice.evidence = evidenceOf(c, curve, {curve.samples.back()});
    if (advice.evidence.empty())
        addSteps(advice, c);
    return advice;
}

Advice check(const Case& c)
{
    if (!c.config)
        return cannotTell("The trace holds no configuration: the schedule is not recorded.");
    const std::string& schedule = (*c.config)[config::key::schedule];
    if (schedule != "constant")
        return silent(fmt::format("The learning rate follows a schedule already ({}).", schedule));
    const LossCurve curve = lossCurve(c);
    if ((*c.config)[config::key::lrScaling] != "none" && timesTheReferenceBatch(*c.config) >= 2 &&
        (*c.config)[config::key::warmupSteps] == 0)
        return finding(
            c,
            "The rate was scaled up with the batch, and the first steps are made with all of it: there is no warm-up.",
            curve);
    const auto fall = curve.lastFall();
    if (!fall)
        return cannotTell(
            curve.samples.size() < LossCurve::kLeastToJudge
                ? fmt::format(
                      "The trace holds {} values of the loss: {} are needed to see whether a constant rate still "
                      "lowers it.",
                      curve.samples.size(), LossCurve::kLeastToJudge)
                : "The loss is not a number for a while: whether a constant rate still lowers it cannot be told.");
    if (const auto whole = curve.wholeFall(); !whole || *whole < kHasLearnt)
        return cannotTell(fmt::format("The loss has hardly fallen since the start ({}): whether a constant rate "
                                      "is what holds it up cannot be told.",
                                      shareText(std::max(0.0, whole.value_or(0)))));
    if (fall->share - fall->error < kStillFalls && fall->share + fall->error < 2 * kStillFalls)
        return finding(
            c,
            fmt::format("At its constant rate the loss has stopped falling: {} in the last quarter of the run.",
                        shareText(fall->share)),
            curve);
    return silent(
        fmt::format("The loss still falls, or varies too much to say that it does not ({} ± {} in the last quarter).",
                    shareText(fall->share), shareText(fall->error)));
}

} // namespace

Rule schedule_kind()
{
    return {kKey, "The learning rate stays as it is", check, Needs::Run};
}

} // namespace advisor::rules
