#include "profiler/model/throttle_reasons.h"

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
