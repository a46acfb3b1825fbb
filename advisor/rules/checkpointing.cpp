#include "advisor/advice.h"
#include "advisor/evidence/memory_use.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "checkpointing";

Advice check(const RuleContext& c)
{
    if (c.config && (*c.config)[config::key::checkpointing] != "off")
        return silent(message<"checkpointing.on", "Activations are already recomputed.">());
    const auto use = memoryUse(c);
    if (auto none = withoutFullMemory(c, use))
        return *none;
    if (auto none = withoutBackward(c))
        return *none;
    Advice advice = firesOnMemory(
        c, *use,
        message<"checkpointing.full", "Memory was {share} full, and every activation is kept for the backward pass.">(
            {{"share", use->share(), shareText(use->share())}}));
    if ((advice.saving = savedByRecomputing(c)))
        advice.whyNoPrediction = {};
    advice.caveats = {message<"checkpointing.time",
                              "Recomputed layers run twice; recomputing all layers costs about one forward pass.">(),
                      message<"checkpointing.random_numbers",
                              "The second pass must draw the same random numbers, and batch norm must "
                              "update its statistics only once.">()};
    setToggleToFirst(advice, c, kKey, {"cheap", "all"});
    return advice;
}

} // namespace

Rule checkpointing()
{
    return proposing("all", {kKey, "Activations fill the memory", check, Needs::Run});
}

} // namespace advisor::rules
