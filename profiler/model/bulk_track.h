#pragma once

#include "profiler/model/block_ref.h"
#include "profiler/model/nesting.h"
#include "profiler/model/pools.h"
#include "profiler/model/radix_sort.h"
#include "profiler/model/raw_slice.h"
#include "profiler/model/slice_spill.h"
#include "profiler/model/trace_builder.h"
#include "profiler/model/track_block.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace profiler {

/// Slices of one track that an importer gives in any order. First everything is added, then sorted, then sealed block
/// by block; blocks may be sealed on several threads at once. What memory shall not hold meanwhile goes to a spill in
/// sorted runs, which are merged in the end.
class BulkTrack {
public:
    struct Piece {
        std::vector<RawSlice> slices;
        Depth depth = Depth::Inferred;
        std::shared_ptr<const PoolRemap> remap; ///< empty: ids are the builder's
    };

    void add(Piece piece);
    [[nodiscard]] std::size_t count() const { return m_count; } ///< of those in memory
    [[nodiscard]] bool spilled() const { return !m_runs.empty(); }

    /// Moves what is in memory to `spill`, as a run. What cannot be written stays.
    void spill(SliceSpill& spill);
    /// The blocks of a track that spilled, in order; they go to `spill`, too. A run that cannot be read any more is
    /// left out from there on.
    /// @param lost  gets the number of slices left out
    [[nodiscard]] std::vector<BlockRef> sealSpilled(TrackId track, SliceSpill& spill, std::size_t& lost);

    /// Makes blocks of what came since the last call, for showing before all is there: each with depths of its own, and
    /// ordinals in the order of the calls. What was spilled meanwhile is missing.
    /// @return bytes of the new blocks
    std::size_t sealPreview();
    [[nodiscard]] const std::vector<BlockRef>& preview() const { return m_preview; }
    void endPreview() { m_preview = {}; }

    /// Puts the slices in order and finds their depths: a pass where they are sorted, else a radix sort of their
    /// begins.
    void sort();
    [[nodiscard]] std::size_t blockCount() const
    {
        return (m_count + SliceColumns::kMaxSlices - 1) / SliceColumns::kMaxSlices;
    }
    [[nodiscard]] std::shared_ptr<const TrackBlock> seal(std::size_t block) const;
    /// Gives back the memory of the slices.
    void release();
    /// Of the slices whose depths were found, by sort() or sealSpilled().
    [[nodiscard]] const Overlaps& overlaps() const { return m_overlaps; }

private:
    /// Order of slices that begin together.
    [[nodiscard]] bool comesFirst(const RawSlice& a, const RawSlice& b) const;
    /// Order of a track, where arrival does not matter.
    [[nodiscard]] bool outOfOrder(const RawSlice& a, const RawSlice& b) const;
    /// @return the slices are in order as they are
    bool clampTimes();
    void makeOrder();
    void findDepths();
    std::uint8_t infer(DepthScan& scan, const RawSlice& slice);
    [[nodiscard]] const RawSlice& at(const SortKey& key) const
    {
        return m_pieces[key.place >> 32].slices[static_cast<std::uint32_t>(key.place)];
    }
    /// Calls `visit(slice, piece)` for slices [first, first + count) in order.
    template <class Visit>
    void visit(std::size_t first, std::size_t count, Visit&& visit) const;
    /// Slices [first, first + count) in order, with ids of the builder; one whose depth is to be found has kNoDepth.
    [[nodiscard]] std::vector<RawSlice> collect(std::size_t first, std::size_t count) const;
    void putInOrder();

    static constexpr std::uint8_t kNoDepth = 255;
    struct Run {
        std::vector<std::uint32_t> numbers; ///< of the spill
        std::size_t count = 0;
    };
    class Cursor;

    std::vector<Run> m_runs;
    std::vector<BlockRef> m_preview;
    std::size_t m_previewedPieces = 0; ///< of m_pieces
    std::uint32_t m_previewOrdinal = 0;
    std::vector<Piece> m_pieces;
    std::size_t m_count = 0;
    bool m_bySource = false;            ///< Depth::BySource
    std::vector<SortKey> m_order;       ///< place: piece, position; empty where the pieces are in order as they are
    std::vector<std::uint8_t> m_depths; ///< by place in the order
    Overlaps m_overlaps;
};

} // namespace profiler
