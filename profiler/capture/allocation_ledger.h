#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace profiler::capture {

/// What took memory: where the run was when it did.
struct AllocationOrigin {
    std::uint32_t op = 0, phase = 0; ///< string ids; 0: outside of all, or not recorded
    std::int64_t step = -1;          ///< −1: outside of all

    friend bool operator==(const AllocationOrigin&, const AllocationOrigin&) = default;
};

/// What is allocated on one device, by what took it, and how it was at its largest. Thread-safe; one lock for a
/// look-up.
class AllocationLedger {
public:
    void taken(const void* at, std::int64_t bytes, const AllocationOrigin& by);
    /// Memory that was taken before the recording is not known, and changes nothing.
    void given(const void* at);

    /// Allocations of one origin that were alive together.
    struct Alive {
        AllocationOrigin by;
        std::int64_t bytes = 0, blocks = 0;
    };
    /// What was alive when most was, largest first.
    struct Peak {
        std::int64_t bytes = 0;      ///< the largest sum
        std::int64_t notedBytes = 0; ///< the sum of `alive`: at most a hundredth below
        std::vector<Alive> alive;
    };
    /// A peak is written down once it is a hundredth above the one before: within that it is what is given. Of steps
    /// that reach the same, the latest counts: it is past the first ones, which may be recorded with less.
    [[nodiscard]] Peak peak() const;
    /// What is alive now, in the same form: when memory has run out.
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
    [[nodiscard]] static Peak sorted(std::int64_t bytes, std::int64_t noted, const Sums& sums);

    mutable std::mutex m_mutex;
    std::unordered_map<const void*, Block> m_blocks;
    Sums m_alive, m_atPeak;
    std::int64_t m_bytes = 0, m_peakBytes = 0, m_noted = 0, m_notedStep = -1;
};

} // namespace profiler::capture
