#include "profiler/model/nvml_values.h"

#include <array>
#include <charconv>

namespace profiler {

namespace {

constexpr std::string_view kBefore = "PCIe ", kBetween = ".0 x";
constexpr std::uint64_t kMostLanes = 32;
/// Bandwidth of one lane in one direction, by generation.
constexpr std::array<double, 6> kGbPerSecond = {2.5 / 8 * 8 / 10,     5.0 / 8 * 8 / 10,     8.0 / 8 * 128 / 130,
                                                16.0 / 8 * 128 / 130, 32.0 / 8 * 128 / 130, 64.0 / 8 * 236 / 256};

/// Removes `word` from the start of `text`, if it is there.
bool take(std::string_view& text, std::string_view word)
{
    if (!text.starts_with(word))
        return false;
    text.remove_prefix(word.size());
    return true;
}

bool take(std::string_view& text, std::uint64_t& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc();
}

} // namespace

double PcieLink::gbPerSecond() const
{
    return kGbPerSecond.at(static_cast<std::size_t>(generation) - 1) * width;
}

std::string PcieLink::text() const
{
    return std::string(kBefore) + std::to_string(generation) + std::string(kBetween) + std::to_string(width);
}

std::optional<PcieLink> PcieLink::of(std::uint64_t generation, std::uint64_t width)
{
    if (generation < 1 || generation > kGbPerSecond.size() || width < 1 || width > kMostLanes)
        return std::nullopt;
    return PcieLink{static_cast<int>(generation), static_cast<int>(width)};
}

std::optional<PcieLink> PcieLink::fromText(std::string_view text)
{
    std::uint64_t generation = 0, width = 0;
    if (!take(text, kBefore) || !take(text, generation) || !take(text, kBetween) || !take(text, width) || !text.empty())
        return std::nullopt;
    return of(generation, width);
}

std::string PcieLink::key(std::string_view uuid)
{
    return "link." + std::string(uuid);
}

} // namespace profiler

namespace profiler::throttle {

namespace {

struct Reason {
    std::uint64_t bit;
    const char* text;
};
constexpr Reason kReasons[] = {{kApplicationClocks, "clocks set by an application"},
                               {kPowerCap, "power cap"},
                               {kHardwareSlowdown, "hardware slowdown"},
                               {kSyncBoost, "clocks synchronized with other GPUs"},
                               {kSoftwareThermal, "heat"},
                               {kHardwareThermal, "heat (hardware)"},
                               {kPowerBrake, "power brake"},
                               {kDisplayClocks, "display clocks"}};

} // namespace

std::string text(std::uint64_t reasons)
{
    std::string text;
    for (const Reason& reason : kReasons)
        if (reasons & reason.bit)
            text += (text.empty() ? "" : ", ") + std::string(reason.text);
    return text;
}

} // namespace profiler::throttle
