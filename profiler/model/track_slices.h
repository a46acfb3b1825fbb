#pragma once

#include "profiler/model/ids.h"
#include "profiler/model/pools.h"
#include "profiler/model/slice_columns.h"
#include "profiler/model/trace.h"
#include "profiler/model/track_block.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// The slices of a track as one snapshot sees them: blocks that are in memory or in a file, and the seams through which
/// a file reads them (BlockSource) and takes those beyond the memory budget of a builder (SliceSpill).
namespace profiler {

/// Reads blocks that are not in memory, from a file of our own format or from a builder's spill file. Caches the blocks
/// it has read. Thread-safe.
class BlockSource {
public:
    virtual ~BlockSource() = default;
    /// The block with that number; null if the file is damaged or cannot be read.
    [[nodiscard]] virtual std::shared_ptr<const TrackBlock> load(std::uint32_t block) const = 0;
    /// Samples of a counter by their number (numbered separately from blocks); empty if they cannot be read.
    [[nodiscard]] virtual std::optional<std::vector<CounterSample>> samples(std::uint32_t number) const;
    /// The data that the most recent attempts could not read.
    [[nodiscard]] Unread unread() const;

protected:
    /// @param missing  what could not be read of that number; empty if it was read
    void note(std::uint32_t number, std::optional<Unread> missing) const;

private:
    mutable std::mutex m_unreadMutex; ///< guards m_unread; held only for a look-up
    mutable std::map<std::uint32_t, Unread> m_unread;
};

/// Samples of a counter, sorted by time, that are not in memory.
struct SampleRef {
    std::shared_ptr<const BlockSource> source;
    std::uint32_t number = 0, count = 0;
};

/// Keeps a block in memory for as long as the pin exists.
class BlockPin {
public:
    BlockPin() = default;
    explicit BlockPin(const TrackBlock* resident) : m_block(resident) {}
    explicit BlockPin(std::shared_ptr<const TrackBlock> loaded) : m_block(loaded.get()), m_loaded(std::move(loaded)) {}

    explicit operator bool() const { return m_block != nullptr; }
    const TrackBlock& operator*() const { return *m_block; }
    const TrackBlock* operator->() const { return m_block; }

private:
    const TrackBlock* m_block = nullptr;
    std::shared_ptr<const TrackBlock> m_loaded;
};

/// A block of a trace, in memory or not. Cheap to copy.
class BlockRef {
public:
    explicit BlockRef(std::shared_ptr<const TrackBlock> block)
        : m_summary(block, &block->summary), m_block(std::move(block))
    {
    }
    BlockRef(std::shared_ptr<const BlockSummary> summary, std::shared_ptr<const BlockSource> source,
             std::uint32_t number)
        : m_summary(std::move(summary)), m_source(std::move(source)), m_number(number)
    {
    }

    [[nodiscard]] const BlockSummary& summary() const { return *m_summary; }
    [[nodiscard]] bool resident() const { return m_block != nullptr; }
    /// The source that reads the block; null if the block is in memory.
    [[nodiscard]] const BlockSource* source() const { return m_source.get(); }
    /// The block, read if it is not in memory; empty if reading fails. Valid while both the pin and this BlockRef
    /// exist.
    [[nodiscard]] BlockPin pin() const
    {
        return m_block ? BlockPin{m_block.get()} : BlockPin{m_source->load(m_number)};
    }
    /// Bytes of memory held by this reference.
    [[nodiscard]] std::size_t bytes() const { return m_block ? m_block->bytes() : m_summary->bytes(); }

private:
    std::shared_ptr<const BlockSummary> m_summary;
    std::shared_ptr<const TrackBlock> m_block;
    std::shared_ptr<const BlockSource> m_source;
    std::uint32_t m_number = 0;
};

/// Slices of one track as one snapshot sees them.
struct TrackSlices {
    std::vector<BlockRef> blocks;
    bool ordered = false; ///< starts and ordinals increase from block to block
    std::size_t count = 0;
    int depthCount = 0;
    std::vector<SampleRef> spilledSamples; ///< sorted by time; they precede `samples`
    CounterLog::View samples;
    std::vector<std::int64_t> begins;     ///< start of each block's first slice
    std::vector<std::int64_t> latestEnds; ///< latest end of all slices up to and including each block

    struct Place {
        BlockPin block;
        std::uint32_t position;
    };
    /// Place of the slice with an ordinal. O(log n) in an ordered track.
    [[nodiscard]] std::optional<Place> find(std::uint32_t ordinal) const;
    /// All blocks that may overlap [from, to); may include others. O(log n) in an ordered track.
    [[nodiscard]] std::span<const BlockRef> around(std::int64_t from, std::int64_t to) const;
    /// Adds a block and updates the other members.
    void push_back(BlockRef block);
};

/// Where a builder puts slices and samples beyond its memory budget: a file that is deleted together with the trace.
/// Thread-safe.
class SliceSpill {
public:
    virtual ~SliceSpill() = default;
    /// Writes slices to the spill.
    /// @param slices  in the order of beginsBefore, at most SliceColumns::kMaxSlices; ordinals are not stored
    /// @return the number to pass to read(); empty if the slices cannot be written and stay with the caller
    [[nodiscard]] virtual std::optional<std::uint32_t> write(std::span<const RawSlice> slices) = 0;
    /// Slices that write() stored; empty if they can no longer be read.
    [[nodiscard]] virtual std::optional<std::vector<RawSlice>> read(std::uint32_t number) const = 0;
    /// Seals a block and writes it to the spill, to be read on demand; the block stays in memory if it cannot be
    /// written.
    /// @param slices  as for TrackBlock::make()
    [[nodiscard]] virtual BlockRef keep(TrackId track, std::span<const RawSlice> slices) = 0;
    /// Writes samples of a counter to the spill; samples of one call are sorted by time.
    /// @return empty if the samples cannot be written and stay with the caller
    [[nodiscard]] virtual std::optional<SampleRef> keepSamples(std::span<const CounterSample> samples) = 0;
    /// Samples that keepSamples() stored, for use by the builder; empty if they can no longer be read.
    [[nodiscard]] virtual std::optional<std::vector<CounterSample>> readSamples(std::uint32_t number) const = 0;
    /// Description of the first failure; empty if there was none.
    [[nodiscard]] virtual std::string problem() const = 0;
};

} // namespace profiler
