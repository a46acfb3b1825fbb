#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Why a GPU's driver holds its clocks back: the bits of nvmlDeviceGetCurrentClocksEventReasons (before driver 535
/// "…ThrottleReasons"), which the sampler records as the counter "GPU 0 throttle reasons".
/// Published: NVML API reference, nvmlClocksEventReasons.
namespace profiler::throttle {

inline constexpr std::uint64_t kIdle = 0x1;             ///< nothing runs: the clocks drop to save power
inline constexpr std::uint64_t kApplicationClocks = 0x2; ///< a user set them
inline constexpr std::uint64_t kPowerCap = 0x4;
inline constexpr std::uint64_t kHardwareSlowdown = 0x8; ///< heat or a power brake: another bit says which
inline constexpr std::uint64_t kSyncBoost = 0x10;
inline constexpr std::uint64_t kSoftwareThermal = 0x20;
inline constexpr std::uint64_t kHardwareThermal = 0x40;
inline constexpr std::uint64_t kPowerBrake = 0x80;
inline constexpr std::uint64_t kDisplayClocks = 0x100;

/// Heat slows the GPU down, by the driver's or the hardware's own protection.
inline constexpr std::uint64_t kHeat = kSoftwareThermal | kHardwareThermal;

/// Ends the name of the counter that holds the bits.
inline constexpr std::string_view kCounter = " throttle reasons";

/// The reasons that slow a GPU down, for readers: "power cap, heat". Empty for none, and for idling, which slows
/// nothing down.
std::string text(std::uint64_t reasons);

} // namespace profiler::throttle
