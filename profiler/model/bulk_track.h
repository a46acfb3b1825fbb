#pragma once

#include "profiler/model/pools.h"
#include "profiler/model/radix_sort.h"
#include "profiler/model/raw_slice.h"
#include "profiler/model/trace_builder.h"
#include "profiler/model/track_block.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace profiler {

/// Slices of one track that an importer gives in any order. First everything is added, then sorted, then sealed block by
/// block; blocks may be sealed on several threads at once.
class BulkTrack {
public:
    struct Piece {
        std::vector<RawSlice> slices;
        Depth depth = Depth::Inferred;
        std::shared_ptr<const PoolRemap> remap; ///< empty: ids are the builder's
    };

    void add(Piece piece);
    [[nodiscard]] std::size_t count() const { return m_count; }

    /// Puts the slices in order and finds their depths: a pass where they are sorted, else a radix sort of their begins.
    void sort();
    [[nodiscard]] std::size_t blockCount() const
    {
        return (m_count + SliceColumns::kMaxSlices - 1) / SliceColumns::kMaxSlices;
    }
    [[nodiscard]] std::shared_ptr<const TrackBlock> seal(std::size_t block) const;
    /// Gives back the memory of the slices.
    void release();

private:
    void clampTimes();
    [[nodiscard]] bool isSorted() const;
    void makeOrder();
    void findDepths();
    [[nodiscard]] const RawSlice& at(const SortKey& key) const
    {
        return m_pieces[key.place >> 32].slices[static_cast<std::uint32_t>(key.place)];
    }
    /// Calls `visit(slice, piece)` for slices [first, first + count) in order.
    template <class Visit>
    void visit(std::size_t first, std::size_t count, Visit&& visit) const;

    std::vector<Piece> m_pieces;
    std::size_t m_count = 0;
    std::vector<SortKey> m_order;       ///< place: piece, position; empty where the pieces are in order as they are
    std::vector<std::uint8_t> m_depths; ///< by place in the order
};

} // namespace profiler
