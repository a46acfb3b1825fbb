#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The parts into which the analysis window of a trace is divided, and from which findings claim their time.
namespace advisor {

/// What a device did, or what it waited for. A set of parts is a sum of flags; claims are taken from its parts in this
/// order.
enum class TimePart : std::uint16_t {
    None = 0,
    Data = 1 << 0,          ///< idle while the program waits for a batch
    Sync = 1 << 1,          ///< idle while the host waits for the device
    Copy = 1 << 2,          ///< copies that no kernel hides, and idle time while the host waits for a copy
    Launch = 1 << 3,        ///< idle with an empty launch queue while the host works, or between the launches of a step
    Allocation = 1 << 4,    ///< idle while device memory is allocated or freed
    Communication = 1 << 5, ///< communication that no compute hides, and idle time while the host communicates
    WarmUp = 1 << 6,        ///< idle while kernel code is loaded, and during other one-time work of a process
    Kernels = 1 << 7,       ///< compute; in a run on the CPU, everything except the wait for data
    Unknown = 1 << 8,       ///< idle with work in the launch queue, after the last work, or without an event that
                            ///< explains it
};
inline constexpr std::size_t kTimeParts = 9;

constexpr TimePart operator|(TimePart a, TimePart b)
{
    return static_cast<TimePart>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}
constexpr bool contains(TimePart set, TimePart part)
{
    return (static_cast<std::uint16_t>(set) & static_cast<std::uint16_t>(part)) != 0;
}
/// The n-th part, in the order above.
constexpr TimePart timePart(std::size_t index)
{
    return static_cast<TimePart>(1U << index);
}
/// "data", "sync", "copy", "launch", "allocation", "communication", "warm-up", "kernels", "unknown".
std::string_view timePartName(TimePart part);

/// All parts: for findings about whole steps.
inline constexpr TimePart kWholeStep = static_cast<TimePart>((1U << kTimeParts) - 1);
/// The parts that shrink if the host does less work or launches less.
inline constexpr TimePart kHostWork = TimePart::Launch | TimePart::Kernels;

/// Time of each part in a step in µs; without steps, in the whole analysis window. Means over the working devices.
struct TimeParts {
    std::array<double, kTimeParts> us{};
    [[nodiscard]] double of(TimePart set) const
    {
        double sum = 0;
        for (std::size_t i = 0; i < kTimeParts; ++i)
            sum += contains(set, timePart(i)) ? us[i] : 0;
        return sum;
    }
    [[nodiscard]] double total() const
    {
        double sum = 0;
        for (const double part : us)
            sum += part;
        return sum;
    }
    /// Everything except the kernels.
    [[nodiscard]] double idle() const { return total() - of(TimePart::Kernels); }
};

} // namespace advisor
