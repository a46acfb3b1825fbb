#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Values of NVML as recordings store them: the PCIe link of a device in the metadata of the trace, and the reasons for
/// lower clocks as the bits of a counter.
namespace profiler {

/// The PCIe link of a device, as recorded in a trace's metadata.
struct PcieLink {
    int generation = 0; ///< 1 to 6
    int width = 0;      ///< lanes, 1 to 32

    bool operator==(const PcieLink&) const = default;
    /// Bandwidth of all lanes in one direction, in 10⁹ bytes per second, after line coding (8b/10b, 128b/130b; from
    /// generation 6 on, 236 of a flit's 256 bytes). Packet headers take about another tenth. Source: PCI Express Base
    /// Specification, transfer rates of 2.5, 5, 8, 16, 32 and 64 GT/s per lane.
    [[nodiscard]] double gbPerSecond() const;
    /// "PCIe 5.0 x16"
    [[nodiscard]] std::string text() const;
    /// Empty if there is no such generation or width.
    static std::optional<PcieLink> of(std::uint64_t generation, std::uint64_t width);
    /// Parses such a text. Empty if it is not one, or if there is no such generation or width.
    static std::optional<PcieLink> fromText(std::string_view text);
    /// The key of a device's link in a trace's metadata.
    static std::string key(std::string_view uuid);
};

} // namespace profiler

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
