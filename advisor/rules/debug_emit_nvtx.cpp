#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device_use.h"
#include "profiler/analysis/slice_queries.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;

constexpr std::string_view kKey = "debug.emit_nvtx";

/// Ranges as emit_nvtx writes them: "aten::conv2d, seq = 12".
std::vector<SliceId> operatorRanges(const Trace& trace, std::int64_t& count)
{
    std::vector<SliceId> found;
    count = 0;
    for (const Slice& range :
         profiler::analysis::ofKindNamed(trace, ActivityKind::Nvtx, profiler::analysis::isOperatorRange)) {
        ++count;
        if (found.size() < kMostEvidence)
            found.push_back(range.id);
    }
    return found;
}

Advice check(const Case& c)
{
    const auto configured = setting(c, kKey);
    if (configured == "false")
        return silent("Operators open no NVTX ranges.");
    std::int64_t count = 0;
    const std::vector<SliceId> ranges = operatorRanges(c.trace, count);
    if (!configured && count == 0)
        return !profiler::analysis::hasKind(c.trace, ActivityKind::Nvtx) ? cannotTell("The trace holds no NVTX ranges.")
                                                                         : silent("No NVTX range is an operator's.");
    if (!configured)
        return silent(
            fmt::format("{} operators opened an NVTX range each, for the profiler that recorded them: without "
                        "one, leave emit_nvtx off.",
                        countText(count)));
    Advice advice = fires(count > 0 ? fmt::format("{} operators open an NVTX range each (emit_nvtx).", countText(count))
                                    : "Every operator opens an NVTX range (emit_nvtx).");
    advice.whyNoPrediction = "What a range costs is not in the trace: measure it.";
    advice.caveats = {"Under a profiler that reads the ranges, leave it on."};
    setToggle(advice, c, kKey, "false");
    addEvidence(advice, c.trace, ranges);
    return advice;
}

} // namespace

Rule debug_emit_nvtx()
{
    return {kKey, "Every operator opens an NVTX range", check};
}

} // namespace advisor::rules
