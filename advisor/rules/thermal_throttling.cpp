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
// Of the samples of a busy device: a driver that holds the clock back now and then costs nothing that can be measured.
constexpr double kOften = 0.05;
// Of the time, as NVML has it: below, a clock is low because there is nothing to do.
constexpr double kBusy = 0.1;

/// The counters of one device, which share the beginning of their names: "GPU 0 temperature", "GPU 0 clock".
struct Counters {
    const Track* heat = nullptr;
    const Track* clock = nullptr;
    const Track* throttled = nullptr; ///< 1 where the driver says that it holds the clock back, for whatever reason
    const Track* utilisation = nullptr;
};

const Track* counterOf(const Trace& trace, std::string_view device, std::string_view mark)
{
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Counter && track.name.starts_with(device) &&
            track.name.find(mark, device.size()) != std::string::npos &&
            track.name.find("memory", device.size()) == std::string::npos)
            return &track;
    return nullptr;
}

std::vector<Counters> devices(const Trace& trace)
{
    std::vector<Counters> found;
    for (const Track& track : trace.tracks()) {
        const auto mark = track.name.find("temperature");
        if (track.kind != TrackKind::Counter || mark == std::string::npos)
            continue;
        const std::string_view device = std::string_view(track.name).substr(0, mark);
        Counters counters{&track, counterOf(trace, device, "clock"), counterOf(trace, device, "throttled"),
                          counterOf(trace, device, "utilisation")};
        if (counters.clock || counters.throttled)
            found.push_back(counters);
    }
    return found;
}

/// The last value at or before `time`.
double valueAt(const std::vector<CounterSample>& samples, TraceTime time)
{
    const auto after = std::upper_bound(samples.begin(), samples.end(), time,
                                        [](TraceTime t, const CounterSample& sample) { return t < sample.time; });
    return after == samples.begin() ? 0 : std::prev(after)->value;
}

/// What one device did while it was busy.
struct Held {
    const Track* track = nullptr; ///< that tells
    bool byDriver = false;        ///< the driver itself says so
    double highest = 0;           ///< °C
    double share = 0;             ///< by the driver: of the samples; else the lowest clock while hot, of the highest
    std::optional<TraceTime> when;
    [[nodiscard]] bool holds() const { return when && (byDriver ? share >= kOften : share <= kSlowedDown); }
};

Held held(const Trace& trace, const Counters& counters)
{
    Held found{.track = counters.throttled ? counters.throttled : counters.clock,
               .byDriver = counters.throttled != nullptr,
               .when = {}};
    const auto temperatures = trace.counter(counters.heat->id), samples = trace.counter(found.track->id);
    const auto utilisation =
        counters.utilisation ? trace.counter(counters.utilisation->id) : std::vector<CounterSample>();
    for (const CounterSample& sample : temperatures)
        found.highest = std::max(found.highest, sample.value);
    double most = 0, lowest = 0, busy = 0, slow = 0;
    for (const CounterSample& sample : samples) {
        if (!utilisation.empty() && valueAt(utilisation, sample.time) < kBusy)
            continue;
        ++busy;
        most = std::max(most, sample.value);
        if (valueAt(temperatures, sample.time) < kHot)
            continue;
        if (found.byDriver ? sample.value > 0 && slow++ == 0 : !found.when || sample.value < lowest) {
            found.when = sample.time;
            lowest = sample.value;
        }
    }
    if (found.byDriver)
        found.share = busy > 0 ? slow / busy : 0;
    else
        found.share = most > 0 ? lowest / most : 1;
    return found;
}

Advice finding(const Case& c, const Held& held)
{
    Advice advice =
        fires(held.byDriver
                  ? fmt::format("The driver held the device's clock back in {} of the samples; it was up to {:.0f} °C "
                                "hot.",
                                shareText(held.share), held.highest)
                  : fmt::format("At up to {:.0f} °C the device's clock fell to {} of its highest.", held.highest,
                                shareText(held.share)));
    // The driver says how often; a lower clock takes so much of the speed.
    advice.concerns = held.byDriver ? held.share : 1 - held.share;
    advice.whyNoPrediction = "Cooling is no setting: what a cool device would have done is not in this trace.";
    advice.whyNoToggle = "No setting mends it: see to cooling and to the power limit.";
    advice.caveats = {"Timings taken meanwhile compare with nothing: let the device cool down first."};
    const TimeRange all = c.trace.range();
    const TraceTime at = std::clamp(*held.when, all.begin, all.end);
    advice.evidence = {{.track = held.track->id, .slice = std::nullopt, .range = {at, at}, .name = held.track->name}};
    return advice;
}

Advice check(const Case& c)
{
    if (ranOnCpu(c))
        return silent("The run was on the CPU: no device's clock is recorded.");
    const std::vector<Counters> all = devices(c.trace);
    if (all.empty())
        return cannotTell("The trace records neither temperature nor clock of a device.");
    Held hottest;
    for (const Counters& counters : all) {
        const Held one = held(c.trace, counters);
        if (one.holds())
            return finding(c, one);
        if (!hottest.track || one.highest > hottest.highest)
            hottest = one;
    }
    if (hottest.highest < kHot)
        return silent(fmt::format("It was at most {:.0f} °C hot.", hottest.highest));
    return silent(
        hottest.byDriver
            ? fmt::format("It was up to {:.0f} °C hot; the driver held its clock back in {} of the samples.",
                          hottest.highest, shareText(hottest.share))
            : fmt::format("While it was hot (up to {:.0f} °C) its clock did not fall below {} of the highest.",
                          hottest.highest, shareText(hottest.when ? hottest.share : 1)));
}

} // namespace

Rule thermal_throttling()
{
    return {kKey, "The device slows down because it is hot", check, Needs::Run, TimePart::Kernels, true};
}

} // namespace advisor::rules
