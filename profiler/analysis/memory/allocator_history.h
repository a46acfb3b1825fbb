#pragma once

#include "profiler/analysis/memory/memory_over_time.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// The events of PyTorch's caching allocator with their call stacks, as an importer of memory snapshots writes them,
/// and the state of memory after each.
namespace profiler::analysis {

/// The part of a training step that a call stack belongs to.
enum class AllocationOrigin : std::uint8_t {
    Unknown,      ///< no frame of PyTorch shows the origin
    Construction, ///< a module is built, moved to a device, or loaded
    Forward,      ///< a module is called
    Backward,     ///< autograd's engine runs
    Optimizer,
};

/// What the call stack of an allocator's event says.
struct AllocationStack {
    AllocationOrigin origin = AllocationOrigin::Unknown;
    SourceLine place; ///< innermost line of the user's program; of PyTorch's Python code if there is none
    /// What that line called, "aten::mm", or the part of the backward pass that runs, "MmBackward0". Empty if the stack
    /// has no frames of C++ (stacks="python") or none of an operator.
    std::string op;
    std::string innermost; ///< "file:line" of the innermost Python frame; empty if there is none
    bool hasFrames = false;
};

/// Reads a call stack as the importer of memory snapshots writes it: one "file:line function" per line, the innermost
/// first. The innermost frame that names a part of a step decides; see the implementation for the names, which are
/// those of PyTorch 1.12 to 2.9.
AllocationStack readAllocationStack(std::string_view text);

/// An event of the caching allocator.
struct AllocatorEvent {
    enum class Kind : std::uint8_t { Allocate, Free, Reserve, Release, OutOfMemory, Other };
    Kind kind = Kind::Other;
    bool isMapping = false; ///< Reserve, Release: of an expandable segment, whose parts join
    TraceTime time{};
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::uint32_t stack = 0; ///< index into AllocatorHistory::stacks
    SliceId slice;
};

/// A block of memory from its allocation to the request to free it.
struct AllocatedBlock {
    static constexpr std::size_t kBefore = std::numeric_limits<std::size_t>::max();       ///< before the history
    static constexpr std::size_t kNotFreed = std::numeric_limits<std::size_t>::max() - 1; ///< alive at its end

    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::size_t from = kBefore, to = kNotFreed; ///< indices of its events
    std::uint32_t stack = 0;                    ///< of its allocation
    MemoryCategory category = MemoryCategory::Uncategorised;

    /// It is allocated after the event with this index.
    [[nodiscard]] bool isAliveAfter(std::size_t event) const
    {
        return (from == kBefore || from <= event) && (to == kNotFreed || to > event);
    }
};

/// The history of the allocator of one device and its state at the end, as a memory snapshot records them.
struct AllocatorHistory {
    std::vector<AllocatorEvent> events;
    std::vector<AllocatedBlock> blocks;
    std::vector<std::uint32_t> blockOf; ///< by event: index of the block that it allocates or frees
    /// By event: the block that ends because its address is allocated again; its deallocation is not recorded.
    std::unordered_map<std::size_t, std::uint32_t> replaced;
    std::vector<AllocationStack> stacks;    ///< the first one is empty
    std::vector<AllocatorSegment> segments; ///< most free memory first
};

/// Reads the events from a track of the importer (slices "alloc train.py:41" with address and size) and the segments
/// from its metadata, and finds the category of each block. A block has the category of the part of a step that
/// allocated it: Parameters for Construction, Activations for Forward, Gradients for Backward, OptimizerState for
/// Optimizer. It is a Temporary if it does not outlive that part: it is freed by the same part before another part
/// allocates (Forward: before another line allocates). What the history does not show is Uncategorised: blocks of
/// before the history without a stack, and those of a part that still runs when the history ends with a failed
/// allocation.
/// @param track     null: the snapshot has segments, but no history
/// @param segments  may be empty
AllocatorHistory readAllocatorHistory(const Trace& trace, const Track* track, std::string_view segments,
                                      const std::stop_token& stop);

/// Receives the state after an event. The sample's bytes of allocated categories are those of the blocks; its
/// Fragmented bytes are free bytes of segments with allocated blocks; Cached is not set.
class AllocatorReplay {
public:
    /// Starts before the first event.
    explicit AllocatorReplay(const AllocatorHistory& history);
    ~AllocatorReplay();
    AllocatorReplay(const AllocatorReplay&) = delete;
    AllocatorReplay& operator=(const AllocatorReplay&) = delete;

    [[nodiscard]] const MemorySample& sample() const { return m_sample; }
    /// Applies the event with this index; call in order.
    void apply(std::size_t event);

private:
    class Segments;
    void change(const AllocatedBlock& block, std::int64_t sign);

    const AllocatorHistory& m_history;
    std::unique_ptr<Segments> m_segments;
    MemorySample m_sample;
};

} // namespace profiler::analysis
