#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "memory.pressure";
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
        "Memory was {} full: a longer sample or another program is enough to end the run.", shareText(use->share())));
    advice.judgedBy = JudgedBy::Memory;
    advice.whyNoPrediction = "No single change: what each of them frees is measured.";
    advice.caveats = {
        "A caching allocator keeps what it does not need: what is reserved may be more than what is used."};
    advice.whyNoToggle = "No single setting: see checkpointing, gradient.accumulation, precision.amp and batch.size.";
    advice.evidence = {peakEvidence(c, *use)};
    return advice;
}

} // namespace

Rule memory_pressure()
{
    return {kKey, "Memory is nearly full", check};
}

} // namespace advisor::rules
