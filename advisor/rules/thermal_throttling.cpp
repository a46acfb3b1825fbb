#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "thermal.throttling";
using namespace profiler;

// Source: gpuprof's thresholds; NVIDIA's devices slow down from about these on.
constexpr double kHot = 82;          // °C
constexpr double kSlowedDown = 0.85; // of the highest clock seen

/// Samples of the first counter whose name holds `mark`.
const Track* counterOf(const Trace& trace, std::string_view mark)
{
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Counter && track.name.find(mark) != std::string::npos)
            return &track;
    return nullptr;
}

/// The last value at or before `time`.
double valueAt(const std::vector<CounterSample>& samples, TraceTime time)
{
    const auto after = std::upper_bound(samples.begin(), samples.end(), time,
                                        [](TraceTime t, const CounterSample& sample) { return t < sample.time; });
    return after == samples.begin() ? 0 : std::prev(after)->value;
}

Advice check(const Case& c)
{
    if (ranOnCpu(c))
        return silent("The run was on the CPU: no device's clock is recorded.");
    const Track* heat = counterOf(c.trace, "temperature");
    const Track* clock = counterOf(c.trace, "clock");
    if (!heat || !clock)
        return cannotTell("The trace records neither temperature nor clock of a device.");
    const auto temperatures = c.trace.counter(heat->id), clocks = c.trace.counter(clock->id);
    double highest = 0;
    for (const CounterSample& sample : clocks)
        highest = std::max(highest, sample.value);
    const CounterSample* worst = nullptr;
    double lowest = highest;
    for (const CounterSample& sample : clocks)
        if (valueAt(temperatures, sample.time) >= kHot && sample.value < lowest) {
            worst = &sample;
            lowest = sample.value;
        }
    if (!worst || lowest > kSlowedDown * highest)
        return silent(fmt::format("While it was hot its clock did not fall below {} of the highest.",
                                  shareText(highest > 0 ? lowest / highest : 1)));
    Advice advice = fires(fmt::format("At {:.0f} °C the device's clock fell to {} of its highest.",
                                      valueAt(temperatures, worst->time), shareText(lowest / highest)));
    advice.whyNoPrediction = "Cooling is no setting: what a cool device would have done is not in this trace.";
    advice.whyNoToggle = "No setting mends it: see to cooling and to the power limit.";
    advice.caveats = {"Timings taken meanwhile compare with nothing: let the device cool down first."};
    const TimeRange all = c.trace.range();
    const TraceTime at = std::clamp(worst->time, all.begin, all.end);
    advice.evidence = {{.track = clock->id, .slice = std::nullopt, .range = {at, at}, .name = clock->name}};
    return advice;
}

} // namespace

Rule thermal_throttling()
{
    return {kKey, "The device slows down because it is hot", check};
}

} // namespace advisor::rules
