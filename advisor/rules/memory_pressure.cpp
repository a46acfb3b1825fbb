#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "memory.pressure";

Advice check(const Case& c)
{
    const auto use = memoryUse(c);
    if (auto none = withoutFullMemory(c, use))
        return *none;
    Advice advice =
        firesOnMemory(c, *use,
                      fmt::format("Memory was {} full: a longer sample or another program is enough to end the run.",
                                  shareText(use->share())));
    advice.whyNoPrediction = "No single change: what each of them frees is measured.";
    advice.caveats = {
        "A caching allocator keeps what it does not need: what is reserved may be more than what is used."};
    advice.whyNoToggle = "No single setting: see checkpointing, gradient.accumulation, precision.amp and batch.size.";
    return advice;
}

} // namespace

Rule memory_pressure()
{
    return {kKey, "Memory is nearly full", check};
}

} // namespace advisor::rules
