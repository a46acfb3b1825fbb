#pragma once

#include <cstdint>
#include <optional>

namespace app {

/// Measures how much CPU other processes use while this process and its children work, which makes measurements noisy.
/// Reads /proc/stat and /proc/self/stat.
class OtherLoad {
public:
    /// Starts the measurement.
    OtherLoad();

    /// Share of all cores used by other processes since the start, [0, 1]. Children count as this process after they
    /// were waited for. None if the kernel does not report it or no time has passed.
    [[nodiscard]] std::optional<double> share() const;

private:
    /// Clock ticks since boot.
    struct Ticks {
        std::int64_t busy = 0, all = 0; ///< of all cores
        std::int64_t own = 0;           ///< of this process and its children
    };
    static std::optional<Ticks> read();

    std::optional<Ticks> m_before;
};

} // namespace app
