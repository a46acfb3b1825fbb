#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/nvml_values.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// Size classes of copies. The start-up time dominates small copies, whatever the link.
inline constexpr std::size_t kCopySizes = 4;
/// "under 64 KiB", "64 KiB to 1 MiB", "1 to 16 MiB", "16 MiB and more".
std::string_view copySizeName(std::size_t size);

/// Copies of one kind between the same kinds of memory, in the steady-state steps, or in the whole trace if there are
/// none.
struct CopyClass {
    struct Sum {
        std::int64_t count = 0, bytes = 0;
        Nanoseconds time{}; ///< summed: copies that overlap count twice

        /// Achieved bandwidth in 10⁹ bytes per second; 0 if the time is zero.
        [[nodiscard]] double gbPerSecond() const
        {
            return time.count() > 0 ? static_cast<double>(bytes) / static_cast<double>(time.count()) : 0;
        }
    };
    CopyKind kind{};
    MemoryKind src{}, dst{};
    Sum all;
    std::array<Sum, kCopySizes> sizes{};
    SliceId longest; ///< the longest of these copies
    Nanoseconds longestTime{};
    /// Time that could be saved at the best bandwidth of this kind: actual time minus bytes over that bandwidth. 0 if
    /// there is no best bandwidth.
    Nanoseconds overBest{};
};

/// The best bandwidth that a copy of a kind achieved, which is a lower bound for the link. Used as the reference if the
/// trace does not describe the link. Only copies of at least 1 MiB count, because start-up time dominates smaller ones.
struct BestCopy {
    CopyKind kind{};
    double gbPerSecond = 0;
    std::int64_t bytes = 0;
    MemoryKind src{}, dst{};
    SliceId slice;
};

struct CopyBandwidth {
    std::vector<CopyClass> classes; ///< by total time, largest first
    std::vector<BestCopy> best;     ///< one per kind with a large enough copy; covers the whole trace
    /// The link between host and devices, if it is recorded for every device of the trace and is the same for all.
    std::optional<PcieLink> link;
    std::string cannotTell; ///< the reason why there is no result; empty if there is one

    /// True if the rate of the link limits copies of this kind: copies between host and device, unless one of them was
    /// faster than the link and therefore used another path (NVLink-C2C).
    [[nodiscard]] bool limitedByLink(CopyKind kind) const;
    /// The bandwidth that copies of a kind can reach, in 10⁹ bytes per second: that of the link, otherwise that of the
    /// best copy. Empty if both are unknown.
    [[nodiscard]] std::optional<double> bestGbPerSecond(CopyKind kind) const;
    /// Achieved bandwidth of copies relative to the best of their kind, [0, 1]; empty if there is no reference.
    [[nodiscard]] std::optional<double> shareOfBest(const CopyClass::Sum& copies, CopyKind kind) const;

private:
    /// Null if no copy of that kind was large enough.
    [[nodiscard]] const BestCopy* bestOf(CopyKind kind) const;
};
/// @param stop  checked periodically; after a stop, the result is meaningless
CopyBandwidth copyBandwidth(const Trace& trace, const AnalysedPart& part, const std::stop_token& stop = {});

} // namespace profiler::analysis
