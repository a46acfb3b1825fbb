#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profiler {

/// The PCIe link of a device, as a trace's metadata has it.
struct PcieLink {
    int generation = 0; ///< 1 to 6
    int width = 0;      ///< lanes, 1 to 32

    bool operator==(const PcieLink&) const = default;
    /// What its lanes carry in one direction, 10⁹ bytes a second, less their line coding (8b/10b, 128b/130b; from
    /// generation 6 on 236 of a flit's 256 bytes). Packets' headers take about a tenth of it besides. Source: PCI
    /// Express Base Specification, transfer rates of 2.5, 5, 8, 16, 32 and 64 GT/s a lane.
    [[nodiscard]] double gbPerSecond() const;
    /// "PCIe 5.0 x16"
    [[nodiscard]] std::string text() const;
    /// Empty: no such generation or width exists.
    static std::optional<PcieLink> of(std::uint64_t generation, std::uint64_t width);
    /// Of such a text; empty: it is none, or of a generation or width that does not exist.
    static std::optional<PcieLink> fromText(std::string_view text);
    /// The key of a device's link in a trace's metadata.
    static std::string key(std::string_view uuid);
};

} // namespace profiler
