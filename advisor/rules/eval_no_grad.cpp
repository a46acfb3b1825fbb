#include "advisor/advice.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace advisor::rules {
namespace {

using namespace profiler;

constexpr std::string_view kKey = "eval.no_grad";

struct Validation {
    std::vector<SliceId> passes;
    std::int64_t ops = 0;         ///< recorded during validation
    std::vector<SliceId> tracked; ///< operators with an autograd sequence number, which create or may create a graph
                                  ///< node
    Nanoseconds time{};           ///< of all validation passes
    Nanoseconds most{};           ///< the same of the process that validates longest; ranks validate at the same time
};

Validation readValidation(const Trace& trace)
{
    Validation found;
    std::map<std::int64_t, Nanoseconds> ofProcess;
    for (const Slice& phase : trace.ofKind(ActivityKind::Phase)) {
        if (trace.name(phase) != phase::kValidation)
            continue;
        found.passes.push_back(phase.id);
        found.time += phase.duration;
        Nanoseconds& own = ofProcess[trace.track(phase.id.track).pid];
        own += phase.duration;
        found.most = std::max(found.most, own);
        trace.forEach(phase.id.track, phase.range(), [&](const Slice& slice) {
            if (slice.kind != ActivityKind::CpuOp || !phase.range().contains(slice.begin))
                return true;
            ++found.ops;
            if (slice.sequence >= 0)
                found.tracked.push_back(slice.id);
            return true;
        });
    }
    return found;
}

double toShare(Nanoseconds part, Nanoseconds whole)
{
    return whole.count() > 0 ? static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0;
}

Advice finding(const RuleContext& c, const Validation& validation)
{
    const double share =
        validation.ops > 0 ? static_cast<double>(validation.tracked.size()) / static_cast<double>(validation.ops) : 0;
    Advice advice = fires(
        share > 0
            ? message<"eval.no_grad.tracked_share", "Validation builds an autograd graph for a backward pass that "
                                                    "never runs: autograd tracks {share} of its operators.">(
                  {{"share", share, shareText(share)}})
            : message<"eval.no_grad.off", "Validation builds an autograd graph for a backward pass that never runs: "
                                          "eval.no_grad is off.">());
    const double passUs =
        static_cast<double>(validation.time.count()) / 1000.0 / static_cast<double>(validation.passes.size());
    advice.whyNoPrediction =
        message<"eval.no_grad.nothing_to_compare",
                "The trace has no validation without gradients to compare with. A validation pass takes {time} now.">(
            {{"time", passUs, timeText(passUs)}});
    advice.caveats = {
        message<"eval.no_grad.only_validation", "Use no_grad only around validation: training needs gradients.">()};
    advice.timeShare = toShare(validation.most, c.trace.range().duration());
    advice.measure = "validation";
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, validation.tracked);
    addEvidence(advice, c.trace, validation.passes);
    return advice;
}

Advice check(const RuleContext& c)
{
    if (c.config && (*c.config)[config::key::evalNoGrad])
        return silent(message<"eval.no_grad.on", "Validation already runs without gradients.">());
    const Validation validation = readValidation(c.trace);
    if (validation.passes.empty())
        return cannotTell(message<"eval.no_grad.no_validation", "The trace contains no validation pass.">(),
                          Need::Validation);
    if (validation.ops > 0 && validation.tracked.empty())
        return silent(message<"eval.no_grad.untracked",
                              "Autograd tracks no operator during validation: gradients are already off.">());
    if (validation.ops == 0 && !c.config)
        return cannotTell(message<"eval.no_grad.no_operators", "Operators were not recorded during validation.">(),
                          Need::Operators);
    return finding(c, validation);
}

} // namespace

Rule eval_no_grad()
{
    return proposing("true", {kKey, "Validation tracks gradients", check, Needs::Run});
}

} // namespace advisor::rules
