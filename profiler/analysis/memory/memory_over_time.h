#pragma once

#include "profiler/model/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// The memory of devices over time and at the moments that matter: its peak, and where an allocation failed.
namespace profiler::analysis {

/// What memory is used for. Allocated memory is in exactly one of the first six; the last two are reserved, but free.
enum class MemoryCategory : std::uint8_t {
    Parameters, ///< and buffers of modules
    OptimizerState,
    Gradients,
    Activations,
    Temporaries,
    Uncategorised, ///< the trace does not record what it is used for
    Fragmented,    ///< free, in a segment that also holds allocated blocks
    Cached,        ///< free otherwise; all free memory if segments are not recorded
};
inline constexpr std::size_t kMemoryCategories = 8;
/// For files: "optimizer_state".
std::string_view memoryCategoryKey(MemoryCategory category);
/// For readers: "optimizer state".
std::string_view memoryCategoryName(MemoryCategory category);

/// The memory of a device from `time` until the next sample, in bytes by category.
struct MemorySample {
    TraceTime time{};
    std::array<std::int64_t, kMemoryCategories> bytes{};

    [[nodiscard]] std::int64_t of(MemoryCategory category) const { return bytes[static_cast<std::size_t>(category)]; }
    [[nodiscard]] std::int64_t allocated() const; ///< sum of the first six
    [[nodiscard]] std::int64_t total() const;     ///< sum of all: allocated and reserved memory
};

/// A line of the traced program.
struct SourceLine {
    std::string file; ///< as recorded, usually absolute; empty: unknown
    std::int64_t line = 0;
    std::string function; ///< may be empty
    [[nodiscard]] bool empty() const { return file.empty(); }
    friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

/// Blocks of one category that were alive at the same time and were allocated at the same place.
struct LiveBlocks {
    std::int64_t bytes = 0, blocks = 0;
    MemoryCategory category = MemoryCategory::Uncategorised;
    SourceLine place;                  ///< empty: not recorded
    std::string op, phase;             ///< operator and phase that allocated them; may be empty
    std::optional<std::int64_t> step;  ///< in which they were allocated; empty: outside of all, or not recorded
    std::optional<SliceId> allocation; ///< of the largest block; empty: not in the trace
    bool rest = false;                 ///< sum of all smaller groups; the other fields are unused
    bool unrecorded = false;           ///< allocated before the recording; `op`, `phase` and `step` are unused
};

/// The memory of a device at one moment.
struct MemoryState {
    bool ranOut = false;               ///< an allocation failed; otherwise the peak of allocated memory
    std::optional<TraceTime> time;     ///< empty: not recorded
    std::int64_t bytes = 0;            ///< allocated
    std::optional<std::int64_t> asked; ///< size of the failed allocation
    /// Its allocated() is `bytes`; at a moment without a recorded time, free memory is 0.
    MemorySample sample;
    std::vector<LiveBlocks> holders; ///< largest first, the rest last; empty: not recorded
};

/// A block of an allocator's segment.
struct SegmentBlock {
    enum class State : std::uint8_t { Free, PendingFree, Allocated };
    std::int64_t offset = 0, bytes = 0;
    State state = State::Free;
    MemoryCategory category = MemoryCategory::Uncategorised; ///< of allocated blocks
    SourceLine place;                                        ///< of its allocation; may be empty
    std::optional<SliceId> allocation;
};

/// Memory that the caching allocator got from the driver in one piece, when the snapshot was taken.
struct AllocatorSegment {
    std::uint64_t address = 0;
    std::int64_t bytes = 0, allocated = 0, stream = 0;
    std::string type; ///< "large", "small"; may be empty
    bool expandable = false;
    std::vector<SegmentBlock> blocks; ///< by offset

    [[nodiscard]] std::int64_t free() const { return bytes - allocated; }
};

/// Where the memory of a device is known from, which determines what is known about it.
enum class MemorySource : std::uint8_t {
    AllocatorHistory, ///< each allocation, with its call stack: a memory snapshot of PyTorch
    AllocatorTotals,  ///< PyTorch's totals after each allocation
    DriverTotals,     ///< what the process got from the CUDA driver
};

/// The memory of one device, or of the host, of one process.
struct DeviceMemory {
    std::string place; ///< "GPU 0", "CPU"; with the process, if several use a device of this number
    MemorySource source = MemorySource::AllocatorTotals;
    bool sinceBegin = false;  ///< memory that was allocated before the recording is missing, so values may be too small
    bool hasReserved = false; ///< reserved memory is recorded
    bool hasStacks = false;   ///< at least one allocation has a call stack
    bool hasEvents = false;   ///< AllocatorTotals: the allocations of the blocks at the peak are recorded
    std::vector<MemorySample> samples;      ///< by time; thinned out, but with the extremes of each interval
    std::vector<MemoryState> moments;       ///< out-of-memory moments first, then the peak
    std::vector<AllocatorSegment> segments; ///< most free memory first; empty: not recorded

    /// Null if only out-of-memory moments are recorded.
    [[nodiscard]] const MemoryState* peak() const
    {
        return moments.empty() || moments.back().ranOut ? nullptr : &moments.back();
    }
};

/// The memory of each device as far as the trace records it; the host before GPUs. Categories:
/// of a memory snapshot, by the call stacks of allocations and deallocations and by lifetime (allocator_history.h); of
/// our recorder and of PyTorch's profiler with profile_memory, by phase and step, only at the moments for which the
/// live blocks are known; otherwise all allocated memory is Uncategorised. A block of PyTorch's profiler belongs to the
/// operator and the Python function that ran on its thread when it was allocated (memory_events.h).
/// @param most  samples per device
/// @param stop  after a stop request the result must be discarded
std::vector<DeviceMemory> memoryOverTime(const Trace& trace, const std::stop_token& stop = {}, std::size_t most = 6000);

/// Memory blocks that were alive at the same time and were allocated by the same operator in the same phase of the same
/// step.
struct MemoryHolder {
    std::int64_t bytes = 0, blocks = 0;
    std::optional<std::int64_t> step; ///< empty: allocated outside of all steps
    std::string phase, op;            ///< empty: allocated outside of any
    bool rest = false;                ///< sum of all smaller ones; `step`, `phase` and `op` are unused

    friend bool operator==(const MemoryHolder&, const MemoryHolder&) = default;
};

/// The allocations on a device at one moment.
struct MemoryMoment {
    std::string place;                 ///< "CPU", "GPU 0"
    bool ranOut = false;               ///< an allocation failed; otherwise this is the peak of the recording
    std::int64_t bytes = 0;            ///< total allocated
    std::optional<std::int64_t> asked; ///< size of the failed allocation
    std::vector<MemoryHolder> alive;   ///< largest first, the sum of the smaller ones last

    friend bool operator==(const MemoryMoment&, const MemoryMoment&) = default;
};

/// The moments that the trace contains (detail level "full"): out-of-memory moments first, then peaks; the CPU before
/// GPUs. Unreadable lines are skipped.
std::vector<MemoryMoment> memoryMoments(const Trace& trace);

} // namespace profiler::analysis
