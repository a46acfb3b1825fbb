#pragma once

#include <cstdint>
#include <optional>

namespace app {

/// Measures how much of the machine other processes use while this one and its children work: what makes a measurement
/// noisy. Reads /proc/stat and /proc/self/stat.
class OtherLoad {
public:
    /// Begins to measure.
    OtherLoad();

    /// Share of all cores that other processes used since the beginning, [0, 1]. Children count as this process once
    /// they were waited for. None where the kernel does not tell, or no time has passed.
    [[nodiscard]] std::optional<double> share() const;

private:
    /// Clock ticks since the machine started.
    struct Ticks {
        std::int64_t busy = 0, all = 0; ///< of all cores
        std::int64_t own = 0;           ///< of this process and its children
    };
    static std::optional<Ticks> read();

    std::optional<Ticks> m_before;
};

} // namespace app
