#pragma once

#include "profiler/model/track_block.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace profiler {

using BlockList = std::vector<std::shared_ptr<const TrackBlock>>;

/// The slices of one track while it grows: what came since the last snapshot, what is open, and sealed blocks. Blocks
/// are merged with their like (as log-structured merge trees do), so that there are few: about log2 of the slices below
/// kMergedSlices, which no merge exceeds.
class TrackStore {
public:
    /// Slices with `inferDepth` get their depth from the intervals. A slice that open() announced keeps its ordinal.
    void add(RawSlice slice, bool inferDepth);
    void open(RawSlice slice, bool inferDepth);

    /// Seals what is pending. Blocks of earlier seals are replaced by merged ones, never changed.
    void seal();
    /// seal(), then merges as far as kMergedSlices lets it.
    void compact();
    /// Open slices become ordinary pending ones that end at `now`, flagged as open.
    void closeOpen(std::int64_t now);

    /// Sealed blocks, and one more of the slices that are open, which end at `now`.
    [[nodiscard]] BlockList blocks(std::int64_t now) const;
    [[nodiscard]] std::size_t count() const { return m_nextOrdinal; }

    static constexpr std::uint32_t kMergedSlices = SliceColumns::kMaxSlices;

private:
    [[nodiscard]] std::vector<RawSlice> openSlices(std::int64_t now) const;
    void inferPending();
    [[nodiscard]] std::vector<RawSlice> sealedOverlapping(std::int64_t from, std::int64_t to) const;
    void pullInferred(std::int64_t from, std::int64_t to);
    void append(std::span<const RawSlice> sorted);

    BlockList m_blocks;
    std::vector<RawSlice> m_pending;
    std::multimap<std::pair<std::int64_t, std::uint32_t>, RawSlice> m_open; ///< by begin, name
    std::uint32_t m_nextOrdinal = 0;
    bool m_anyInferred = false; ///< some slice of this track had its depth inferred
    /// Span of pending slices that may change depths of sealed ones: those that no open() gave a depth before.
    std::int64_t m_newBegin = 0, m_newEnd = -1;
};

} // namespace profiler
