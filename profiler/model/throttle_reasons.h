#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Reasons why a GPU's driver lowers its clocks: the bits of nvmlDeviceGetCurrentClocksEventReasons (before driver 535
/// "…ThrottleReasons"). The sampler records them as the counter "GPU 0 throttle reasons".
/// Source: NVML API reference, nvmlClocksEventReasons.
namespace profiler::throttle {

inline constexpr std::uint64_t kIdle = 0x1;              ///< nothing is running: the clocks drop to save power
inline constexpr std::uint64_t kApplicationClocks = 0x2; ///< clocks set by a user
inline constexpr std::uint64_t kPowerCap = 0x4;
inline constexpr std::uint64_t kHardwareSlowdown = 0x8; ///< heat or a power brake: another bit says which
inline constexpr std::uint64_t kSyncBoost = 0x10;
inline constexpr std::uint64_t kSoftwareThermal = 0x20;
inline constexpr std::uint64_t kHardwareThermal = 0x40;
inline constexpr std::uint64_t kPowerBrake = 0x80;
inline constexpr std::uint64_t kDisplayClocks = 0x100;

/// Thermal slowdown, by the driver's or the hardware's protection.
inline constexpr std::uint64_t kHeat = kSoftwareThermal | kHardwareThermal;

/// Suffix of the counter that holds the bits.
inline constexpr std::string_view kCounter = " throttle reasons";

/// The reasons that slow a GPU down, for readers: "power cap, heat". Empty if there are none; idling does not count
/// because it slows nothing down.
std::string text(std::uint64_t reasons);

} // namespace profiler::throttle
