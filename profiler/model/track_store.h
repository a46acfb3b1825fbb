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

/// The slices of one track while it grows: slices added since the last snapshot, open slices, and sealed blocks. Blocks
/// of similar size are merged, as in a log-structured merge tree, so there are few of them: about log2 of the number of
/// slices below kMergedSlices, the limit of every merge.
class TrackStore {
public:
    /// With `inferDepth`, the slice's depth is inferred from the intervals. A slice that open() announced keeps its
    /// ordinal.
    void add(RawSlice slice, bool inferDepth);
    void open(RawSlice slice, bool inferDepth);

    /// Seals the pending slices. Blocks of earlier seals are replaced by merged ones, never changed.
    void seal();
    /// Calls seal(), then merges blocks up to kMergedSlices.
    void compact();
    /// Turns open slices into pending ones that end at `now`, flagged as open.
    void closeOpen(std::int64_t now);

    /// Sealed blocks, plus one block with the open slices, which end at `now`.
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
    std::multimap<std::pair<std::int64_t, std::uint32_t>, RawSlice> m_open; ///< by start and name
    std::uint32_t m_nextOrdinal = 0;
    bool m_anyInferred = false; ///< some slice of this track had its depth inferred
    /// Time span of pending slices that may change depths in sealed blocks, excluding slices whose depth open() already
    /// set.
    std::int64_t m_newBegin = 0, m_newEnd = -1;
};

} // namespace profiler
