#pragma once

#include "profiler/analysis/steady_state_steps.h"
#include "profiler/model/pcie_link.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// Sizes of copies that are told apart: the small ones take as long as starting them does, whatever the link.
inline constexpr std::size_t kCopySizes = 4;
/// "under 64 KiB", "64 KiB to 1 MiB", "1 to 16 MiB", "16 MiB and more".
std::string_view copySizeName(std::size_t size);

/// Copies of one kind between the same kinds of memory, in the judged steps, else in the whole trace.
struct CopyClass {
    struct Sum {
        std::int64_t count = 0, bytes = 0;
        Nanoseconds time{}; ///< summed, so copies that overlap count twice

        /// Achieved bandwidth, 10⁹ bytes a second; 0 when no time was taken.
        [[nodiscard]] double gbPerSecond() const
        {
            return time.count() > 0 ? static_cast<double>(bytes) / static_cast<double>(time.count()) : 0;
        }
    };
    CopyKind kind{};
    MemoryKind src{}, dst{};
    Sum all;
    std::array<Sum, kCopySizes> sizes{};
    SliceId longest; ///< its longest copy
    Nanoseconds longestTime{};
    /// What the best bandwidth of this kind would have saved: time less bytes at that bandwidth. 0 without one.
    Nanoseconds overBest{};
};

/// The best bandwidth that a copy of a kind reached: what the link gives at least. Where a trace does not tell the
/// link, this stands for it; only copies of a MiB and more count, as small ones time their own start.
struct BestCopy {
    CopyKind kind{};
    double gbPerSecond = 0;
    std::int64_t bytes = 0;
    MemoryKind src{}, dst{};
    SliceId slice;
};

struct CopyBandwidth {
    std::vector<CopyClass> classes; ///< by time, largest first
    std::vector<BestCopy> best;     ///< of each kind that has a large enough one, of the whole trace
    /// Between host and devices: recorded of each device of the trace, the same for all.
    std::optional<PcieLink> link;
    std::string cannotTell; ///< why nothing stands here; empty: something does

    /// True where the link's rate is the best that copies of a kind can reach: between host and device, unless one of
    /// them was faster, so that they go another way (NVLink-C2C).
    [[nodiscard]] bool judgedByLink(CopyKind kind) const;
    /// 10⁹ bytes a second that copies of a kind can reach: the link's, else the best copy's; empty: nothing tells.
    [[nodiscard]] std::optional<double> bestGbPerSecond(CopyKind kind) const;
    /// Achieved bandwidth of copies over the best of their kind, [0, 1]; empty where there is none to compare.
    [[nodiscard]] std::optional<double> shareOfBest(const CopyClass::Sum& copies, CopyKind kind) const;

private:
    /// Null: no copy of that kind was large enough.
    [[nodiscard]] const BestCopy* bestOf(CopyKind kind) const;
};
/// @param stop  asked now and then; what is returned then means nothing
CopyBandwidth copyBandwidth(const Trace& trace, const JudgedPart& part, const std::stop_token& stop = {});

} // namespace profiler::analysis
