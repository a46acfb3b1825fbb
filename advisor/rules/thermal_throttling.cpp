#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/model/nvml_values.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace advisor::rules {
namespace {

using namespace profiler;

constexpr std::string_view kKey = "thermal.throttling";

// Minimum share of the samples in which the device is busy. Chosen: according to NVML, slowdowns halve the clocks or
// lower them further, so one sample in twenty costs at least 2.5 % of the time; less disappears in measurement noise.
constexpr double kOften = 0.05;

/// How often each reason limited the clocks of one device while it was not idle.
struct Device {
    const Track* track = nullptr; ///< of the reasons counted
    std::size_t samples = 0, hot = 0, otherwise = 0;
    std::uint64_t others = 0; ///< all reasons other than heat
    std::optional<TraceTime> firstHot;
    [[nodiscard]] double hotShare() const { return share(hot); }
    [[nodiscard]] double otherShare() const { return share(otherwise); }

private:
    [[nodiscard]] double share(std::size_t count) const
    {
        return samples > 0 ? static_cast<double>(count) / static_cast<double>(samples) : 0;
    }
};

Device deviceOf(const Trace& trace, const Track& track)
{
    Device device{.track = &track, .firstHot = {}};
    for (const CounterSample& sample : trace.counter(track.id)) {
        const auto reasons = static_cast<std::uint64_t>(std::max(0.0, sample.value));
        if (reasons & throttle::kIdle)
            continue;
        ++device.samples;
        if (reasons & throttle::kHeat) {
            if (device.hot++ == 0)
                device.firstHot = sample.time;
        } else if (!throttle::text(reasons).empty()) {
            ++device.otherwise;
            device.others |= reasons;
        }
    }
    return device;
}

const Track* counterThatEndsWith(const Trace& trace, std::string_view mark)
{
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Counter && track.name.ends_with(mark))
            return &track;
    return nullptr;
}

/// Gives no saving: it is unknown how much faster the kernels in those samples would have been.
Advice finding(const RuleContext& c, const Device& device)
{
    Advice advice =
        fires(message<"thermal.throttling.heat", "Heat limited the GPU's clocks in {share} of the samples.">(
            {{"share", device.hotShare(), shareText(device.hotShare())},
             {"samples", device.samples},
             {"counter", device.track->name}}));
    advice.whyNoPrediction =
        message<"thermal.throttling.no_prediction", "The trace does not show how fast a cooler GPU would have run.">();
    advice.whyNoToggle = message<"thermal.throttling.no_toggle",
                                 "No setting changes this: improve the cooling or lower the power limit.">();
    advice.caveats = {
        message<"thermal.throttling.timings",
                "Do not compare timings from this recording with others: let the GPU cool down and measure "
                "again.">()};
    const TimeRange all = c.trace.range();
    const TraceTime at = std::clamp(*device.firstHot, all.begin, all.end);
    advice.evidence = {
        {.track = device.track->id, .slice = std::nullopt, .range = {at, at}, .name = device.track->name}};
    return advice;
}

/// The trace contains no clock-limit reasons: a temperature or a low clock does not show what limited the clocks.
Advice withoutReasons(const RuleContext& c)
{
    if (counterThatEndsWith(c.trace, " throttled"))
        return cannotTell(message<"thermal.throttling.no_reason",
                                  "The trace records that the driver limited the clocks, but not why.">(),
                          Need::Clocks);
    if (counterThatEndsWith(c.trace, "temperature"))
        return cannotTell(message<"thermal.throttling.temperature_only",
                                  "The trace records temperatures, which do not show what limited the clocks.">(),
                          Need::Clocks);
    return cannotTell(message<"thermal.throttling.not_recorded",
                              "The trace does not record why the driver limited the GPU's clocks.">(),
                      Need::Clocks);
}

Advice check(const RuleContext& c)
{
    if (ranOnCpu(c))
        return silent(message<"thermal.throttling.on_cpu", "The run used only the CPU: no GPU clocks are recorded.">());
    std::vector<Device> devices;
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Counter && track.name.ends_with(throttle::kCounter))
            devices.push_back(deviceOf(c.trace, track));
    std::erase_if(devices, [](const Device& device) { return device.samples == 0; });
    if (devices.empty())
        return counterThatEndsWith(c.trace, throttle::kCounter)
                   ? silent(message<"thermal.throttling.idle", "The GPUs were idle in every sample.">())
                   : withoutReasons(c);
    const auto hottest = std::max_element(devices.begin(), devices.end(),
                                          [](const Device& a, const Device& b) { return a.hotShare() < b.hotShare(); });
    if (hottest->hotShare() >= kOften)
        return finding(c, *hottest);
    const auto heldBack = std::max_element(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
        return a.otherShare() < b.otherShare();
    });
    if (heldBack->otherShare() >= kOften)
        return silent(message<"thermal.throttling.other_reason",
                              "The GPU's clocks were limited in {share} of the samples, but not by heat: {reasons}.">(
            {{"share", heldBack->otherShare(), shareText(heldBack->otherShare())},
             {"reasons", throttle::text(heldBack->others)}}));
    return silent(message<"thermal.throttling.rare", "Heat limited the GPU's clocks in {share} of the samples.">(
        {{"share", hottest->hotShare(), shareText(hottest->hotShare())}}));
}

} // namespace

Rule thermal_throttling()
{
    return {kKey, "Thermal throttling slows the GPU down", check, Needs::Run};
}

} // namespace advisor::rules
