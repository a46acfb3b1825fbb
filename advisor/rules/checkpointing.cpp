#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "checkpointing";
// Of the memory that there is. Source: NVIDIA's and TraceML's advisors warn from nine tenths on.
constexpr double kFull = 0.8;

Advice check(const Case& c)
{
    if (c.config && (*c.config)[config::key::checkpointing] != "off")
        return silent("Activations are recomputed already.");
    const auto use = memoryUse(c);
    if (!use)
        return cannotTell(memoryNotRecorded(c));
    if (use->share() < kFull)
        return silent(fmt::format("Memory was at most {} full.", shareText(use->share())));
    Advice advice = fires(fmt::format("Memory was {} full, and every activation is kept for the backward pass.",
                                      shareText(use->share())));
    advice.judgedBy = JudgedBy::Memory;
    advice.whyNoPrediction = "How much of the memory are activations is not recorded: measure it.";
    advice.caveats = {
        "It costs time: about one more forward pass of those blocks.",
        "The second run must draw the same random numbers, and batch norm must count its statistics once."};
    setToggle(advice, c, kKey, "cheap");
    advice.evidence = {peakEvidence(c, *use)};
    return advice;
}

} // namespace

Rule checkpointing()
{
    return {kKey, "Activations fill the memory", check};
}

} // namespace advisor::rules
