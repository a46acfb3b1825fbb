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

/// Reads blocks that are not in memory: of a file of our own format, or spilled by a builder. Caches what it read. Any
/// thread.
class BlockSource {
public:
    virtual ~BlockSource() = default;
    /// The block of that number; empty where the file is damaged or cannot be read.
    [[nodiscard]] virtual std::shared_ptr<const TrackBlock> load(std::uint32_t block) const = 0;
    /// Samples of a counter by their number, which is none of a block; empty where they cannot be read.
    [[nodiscard]] virtual std::optional<std::vector<CounterSample>> samples(std::uint32_t number) const;
    /// Of what was asked for, what could not be read the last time.
    [[nodiscard]] Unread unread() const;

protected:
    /// What is missing of that number; empty: it could be read.
    void note(std::uint32_t number, std::optional<Unread> missing) const;

private:
    mutable std::mutex m_unreadMutex; ///< guards the next; held for a look-up at most
    mutable std::map<std::uint32_t, Unread> m_unread;
};

/// Samples of a counter, by time, that are not in memory.
struct SampleRef {
    std::shared_ptr<const BlockSource> source;
    std::uint32_t number = 0, count = 0;
};

/// A block in use: stays in memory as long as this lives.
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
    /// Who reads it; null where it is in memory.
    [[nodiscard]] const BlockSource* source() const { return m_source.get(); }
    /// The block, read when it is not in memory; empty where that fails. Valid as long as both the pin and this live.
    [[nodiscard]] BlockPin pin() const
    {
        return m_block ? BlockPin{m_block.get()} : BlockPin{m_source->load(m_number)};
    }
    /// Bytes that this keeps in memory.
    [[nodiscard]] std::size_t bytes() const { return m_block ? m_block->bytes() : m_summary->bytes(); }

private:
    std::shared_ptr<const BlockSummary> m_summary;
    std::shared_ptr<const TrackBlock> m_block;
    std::shared_ptr<const BlockSource> m_source;
    std::uint32_t m_number = 0;
};

} // namespace profiler
