#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "gradient.accumulation";
// Of the memory that there is. Source: NVIDIA's and TraceML's advisors warn from nine tenths on.
constexpr double kFull = 0.9;

Advice check(const Case& c)
{
    const auto use = memoryUse(c);
    if (!use)
        return cannotTell(memoryNotRecorded(c));
    if (use->share() < kFull)
        return silent(fmt::format("Memory was at most {} full.", shareText(use->share())));
    Advice advice = fires(fmt::format(
        "Memory was {} full: a larger batch fits only bit by bit, its gradients added up.", shareText(use->share())));
    advice.judgedBy = JudgedBy::Memory;
    advice.whyNoPrediction = "How much of the memory are activations is not recorded: measure it.";
    advice.caveats = {"Costs of a step are paid for each part of the batch.",
                      "The loss is divided by the number of parts; the last, partial group counts its real number."};
    setToggle(advice, c, kKey, c.config ? config::toText((*c.config)[config::key::accumulation] * 2) : "2");
    advice.evidence = {peakEvidence(c, *use)};
    return advice;
}

} // namespace

Rule gradient_accumulation()
{
    return {kKey, "Memory bounds the batch", check};
}

} // namespace advisor::rules
