#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace profiler::capture {

/// Where the run was when it allocated memory.
struct AllocationOrigin {
    std::uint32_t op = 0, phase = 0; ///< string ids; 0 if outside of any, or not recorded
    std::int64_t step = -1;          ///< −1 if outside of any step

    friend bool operator==(const AllocationOrigin&, const AllocationOrigin&) = default;
};

/// Memory allocated on one device, by origin, now and at the peak. Thread-safe; holds one lock for each look-up.
class AllocationLedger {
public:
    void allocated(const void* at, std::int64_t bytes, const AllocationOrigin& by);
    /// Ignores memory that was allocated before the recording started.
    void freed(const void* at);

    /// Allocations of one origin that were alive at the same time.
    struct Alive {
        AllocationOrigin by;
        std::int64_t bytes = 0, blocks = 0;
    };
    /// The allocations that were alive at the peak, largest first.
    struct Peak {
        std::int64_t bytes = 0;   ///< the largest sum
        std::vector<Alive> alive; ///< their sum is at most 1 % below `bytes`
    };
    /// The peak. To save time, a new peak is stored only if it is 1 % above the stored one, so the result is accurate
    /// to 1 %. If several steps reach the same peak, the latest counts, because the first steps may be recorded in less
    /// detail.
    [[nodiscard]] Peak peak() const;
    /// The allocations that are alive now, in the same form; for out-of-memory errors.
    [[nodiscard]] Peak now() const;
    [[nodiscard]] std::int64_t bytes() const;

private:
    struct Block {
        std::int64_t bytes;
        AllocationOrigin by;
    };
    struct Sum {
        std::int64_t bytes = 0, blocks = 0;
    };
    struct Hash {
        std::size_t operator()(const AllocationOrigin& by) const noexcept;
    };
    using Sums = std::unordered_map<AllocationOrigin, Sum, Hash>;
    void release(const Block& block);
    [[nodiscard]] static Peak sorted(std::int64_t bytes, const Sums& sums);

    mutable std::mutex m_mutex;
    std::unordered_map<const void*, Block> m_blocks;
    Sums m_alive, m_atPeak;
    std::int64_t m_bytes = 0, m_peakBytes = 0, m_noted = 0, m_notedStep = -1;
};

} // namespace profiler::capture
