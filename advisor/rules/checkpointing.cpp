#include "advisor/memory_saving.h"
#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "checkpointing";

Advice check(const Case& c)
{
    if (c.config && (*c.config)[config::key::checkpointing] != "off")
        return silent("Activations are recomputed already.");
    const auto use = memoryUse(c);
    if (auto none = withoutFullMemory(c, use))
        return *none;
    if (auto none = withoutBackward(c))
        return *none;
    Advice advice = firesOnMemory(c, *use,
                                  fmt::format("Memory was {} full, and every activation is kept for the backward pass.",
                                              shareText(use->share())));
    if ((advice.saving = savedByRecomputing(c)))
        advice.whyNoPrediction = {};
    advice.caveats = {
        "It costs time: what is recomputed runs once more, of all about a whole forward pass.",
        "The second run must draw the same random numbers, and batch norm must count its statistics once."};
    setToggleToFirst(advice, c, kKey, {"cheap", "all"});
    return advice;
}

} // namespace

Rule checkpointing()
{
    return {kKey, "Activations fill the memory", check, Needs::Run};
}

} // namespace advisor::rules
