#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
