#include "advisor/numbers.h"
#include "advisor/verdict.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "loader.persistent_workers";
// Of an epoch: below, keeping the data set's copies alive wins nothing that can be measured.
constexpr double kWorthFixing = 0.01;

struct Start {
    Slice slice;
    double us = 0;      ///< making the workers, and the first wait beyond the usual one
    double epochUs = 0; ///< to the next start, or the end of the trace
};

/// What starting the workers costs at each epoch after the first, which has to start them anyway.
std::vector<Start> laterStarts(const Case& c)
{
    std::vector<Slice> starts, waits;
    for (const Slice& slice : c.trace.ofKind(ActivityKind::Phase)) {
        if (c.trace.name(slice) == phase::kWorkerStart)
            starts.push_back(slice);
        if (c.trace.name(slice) == phase::kDataWait)
            waits.push_back(slice);
    }
    std::vector<double> usual;
    for (const Slice& wait : waits)
        usual.push_back(toUs(wait.duration));
    const double usualUs = percentile(std::move(usual), 0.5);
    std::vector<Start> found;
    for (std::size_t i = 1; i < starts.size(); ++i) {
        const TraceTime next = i + 1 < starts.size() ? starts[i + 1].begin : c.trace.range().end;
        Start start{starts[i], toUs(starts[i].duration), toUs(next - starts[i].begin)};
        const auto first = std::find_if(waits.begin(), waits.end(), [&](const Slice& wait) {
            return wait.end() > starts[i].end() && wait.begin < next;
        });
        if (first != waits.end())
            start.us += std::max(0.0, toUs(std::min(first->duration, first->end() - starts[i].end())) - usualUs);
        found.push_back(start);
    }
    return found;
}

Advice check(const Case& c)
{
    if (c.config && (*c.config)[config::key::persistentWorkers])
        return silent("Workers are kept between epochs already.");
    if (c.config && (*c.config)[config::key::workers] == 0)
        return silent("There are no workers to keep.");
    const std::vector<Start> starts = laterStarts(c);
    if (starts.empty())
        return cannotTell("The trace does not hold the start of workers at a second epoch.");
    std::vector<double> us;
    double epochUs = 0;
    for (const Start& start : starts) {
        us.push_back(start.us);
        epochUs += start.epochUs / static_cast<double>(starts.size());
    }
    const double meanUs = mean(us);
    if (meanUs < kWorthFixing * epochUs)
        return silent(
            fmt::format("Starting the workers costs only {} of an epoch of {}.", timeText(meanUs), timeText(epochUs)));
    Advice advice = fires(fmt::format("Each epoch starts its workers anew: {} of {} until they deliver as usual.",
                                      timeText(meanUs), timeText(epochUs)));
    advice.saving = Saving{.unit = SavingUnit::UsPerEpoch,
                           .low = std::min(meanUs, percentile(us, 0.1)),
                           .mid = meanUs,
                           .high = std::max(meanUs, percentile(us, 0.9))};
    advice.caveats = {"Workers keep their copy of the data set's object, and what it cached, for the whole run."};
    advice.measure = "epoch";
    setToggle(advice, c, kKey, "true");
    std::vector<SliceId> evidence;
    for (const Start& start : starts)
        evidence.push_back(start.slice.id);
    addEvidence(advice, c.trace, evidence);
    return advice;
}

} // namespace

Rule loader_persistent_workers()
{
    return {kKey, "Workers start anew at each epoch", check};
}

} // namespace advisor::rules
