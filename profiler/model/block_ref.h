#pragma once

#include "profiler/model/trace.h"
#include "profiler/model/track_block.h"
#include "profiler/model/unread.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

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
    /// What the most recent attempts to read could not read.
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

} // namespace profiler
