#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;

constexpr std::string_view kKey = "debug.emit_nvtx";

/// Matches ranges that emit_nvtx writes: "aten::conv2d, seq = 12".
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

Advice check(const RuleContext& c)
{
    const auto configured = setting(c, kKey);
    if (configured == "false")
        return silent(message<"debug.emit_nvtx.off", "emit_nvtx is off.">());
    std::int64_t count = 0;
    const std::vector<SliceId> ranges = operatorRanges(c.trace, count);
    if (!configured && count == 0)
        return !profiler::analysis::hasKind(c.trace, ActivityKind::Nvtx)
                   ? cannotTell(message<"debug.emit_nvtx.not_recorded", "The trace contains no NVTX ranges.">(),
                                Need::Ranges)
                   : silent(message<"debug.emit_nvtx.no_operators", "No NVTX range marks an operator.">());
    if (!configured)
        return silent(
            message<"debug.emit_nvtx.profiled",
                    "{operators} operators opened NVTX ranges for the profiler that recorded this trace. Without "
                    "a profiler, leave emit_nvtx off.">({{"operators", count, countText(count)}}));
    Advice advice = fires(
        count > 0 ? message<"debug.emit_nvtx.ranges", "Each of {operators} operators opens an NVTX range (emit_nvtx).">(
                        {{"operators", count, countText(count)}})
                  : message<"debug.emit_nvtx.on", "Every operator opens an NVTX range (emit_nvtx).">());
    advice.whyNoPrediction =
        message<"debug.emit_nvtx.cost_unknown", "The trace does not show the cost of a range: measure it.">();
    advice.caveats = {message<"debug.emit_nvtx.caveat", "Leave it on when a profiler reads the ranges.">()};
    setToggle(advice, c, kKey, "false");
    addEvidence(advice, c.trace, ranges);
    return advice;
}

} // namespace

Rule debug_emit_nvtx()
{
    return proposing("false", {kKey, "Every operator opens an NVTX range", check, Needs::Steps, kHostWork});
}

} // namespace advisor::rules
