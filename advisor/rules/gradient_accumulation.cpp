#include "advisor/batch_facts.h"
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
    const auto parts = c.config ? partsOfTheBatch(*c.config) : std::nullopt;
    if (c.config && !parts)
        return silent("Each pass takes one sample: there is nothing to divide.");
    Advice advice = firesOnMemory(
        c, *use,
        fmt::format("Memory was {} full: in smaller parts, its gradients added up, the same batch needs less of it.",
                    shareText(use->share())));
    advice.caveats = {"Costs of a step are paid for each part of the batch.",
                      "The loss is divided by the number of parts; the last, partial group counts its real number."};
    setToggle(advice, c, kKey, parts ? parts->to : "2");
    if (parts)
        for (const Toggle& change : changesOf(*parts, *c.config))
            if (change.key != kKey)
                advice.caveats.push_back(fmt::format("{} becomes {} with it, so that an update sees as many samples.",
                                                     change.key, change.to));
    return advice;
}

} // namespace

Rule gradient_accumulation()
{
    return {kKey, "Memory bounds the batch", check};
}

} // namespace advisor::rules
