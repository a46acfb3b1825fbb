#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "gradient.accumulation";

Advice check(const Case& c)
{
    const auto use = memoryUse(c);
    if (auto none = withoutFullMemory(c, use))
        return *none;
    if (auto none = withoutBackward(c))
        return *none;
    Advice advice =
        firesOnMemory(c, *use,
                      fmt::format("Memory was {} full: a larger batch fits only bit by bit, its gradients added up.",
                                  shareText(use->share())));
    advice.caveats = {"Costs of a step are paid for each part of the batch.",
                      "The loss is divided by the number of parts; the last, partial group counts its real number."};
    setToggle(advice, c, kKey, c.config ? config::toText((*c.config)[config::key::accumulation] * 2) : "2");
    return advice;
}

} // namespace

Rule gradient_accumulation()
{
    return {kKey, "Memory bounds the batch", check};
}

} // namespace advisor::rules
