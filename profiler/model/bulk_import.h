#pragma once

#include "profiler/model/nesting.h"
#include "profiler/model/pools.h"
#include "profiler/model/radix_sort.h"
#include "profiler/model/slice_columns.h"
#include "profiler/model/trace_builder.h"
#include "profiler/model/track_block.h"
#include "profiler/model/track_slices.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

/// What an importer adds to a builder in bulk, in any order: the slices of a track and the samples of a counter. Both
/// are sorted at the end; what exceeds the memory budget goes to a spill.
namespace profiler {

/// Slices of one track that an importer adds in any order. All slices are added first, then sorted, then sealed block
/// by block; blocks may be sealed on several threads at once. Slices beyond the memory budget go to a spill as sorted
/// runs, which are merged at the end.
class BulkTrack {
public:
    struct Piece {
        std::vector<RawSlice> slices;
        Depth depth = Depth::Inferred;
        std::shared_ptr<const PoolRemap> remap; ///< null if the ids already belong to the builder
    };

    void add(Piece piece);
    [[nodiscard]] std::size_t count() const { return m_count; } ///< number of slices in memory
    [[nodiscard]] bool spilled() const { return !m_runs.empty(); }

    /// Moves the slices in memory to `spill` as one run. Slices that cannot be written stay in memory.
    void spill(SliceSpill& spill);
    /// The blocks, in order, of a track that spilled; they go to `spill` too. If a run can no longer be read, the rest
    /// of it is skipped.
    /// @param lost  receives the number of slices skipped
    [[nodiscard]] std::vector<BlockRef> sealSpilled(TrackId track, SliceSpill& spill, std::size_t& lost);

    /// Makes blocks from the slices added since the last call, to show them before the import ends. Each block has its
    /// own depths, and ordinals follow the order of the calls. Slices that were spilled in between are missing.
    /// @return bytes of the new blocks
    std::size_t sealPreview();
    [[nodiscard]] const std::vector<BlockRef>& preview() const { return m_preview; }
    void endPreview() { m_preview = {}; }

    /// Sorts the slices and finds their depths: one pass if they are already sorted, otherwise a radix sort by start.
    void sort();
    [[nodiscard]] std::size_t blockCount() const
    {
        return (m_count + SliceColumns::kMaxSlices - 1) / SliceColumns::kMaxSlices;
    }
    [[nodiscard]] std::shared_ptr<const TrackBlock> seal(std::size_t block) const;
    /// Frees the memory of the slices.
    void release();
    /// Overlaps among the slices whose depths sort() or sealSpilled() found.
    [[nodiscard]] const Overlaps& overlaps() const { return m_overlaps; }

private:
    /// Order of slices with the same start.
    [[nodiscard]] bool comesFirst(const RawSlice& a, const RawSlice& b) const;
    /// Order of a track, ignoring arrival.
    [[nodiscard]] bool outOfOrder(const RawSlice& a, const RawSlice& b) const;
    /// @return true if the slices are already in order
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
    /// Slices [first, first + count) in order, with the builder's ids. A slice whose depth has yet to be found has
    /// kNoDepth.
    [[nodiscard]] std::vector<RawSlice> collect(std::size_t first, std::size_t count) const;
    void putInOrder();

    static constexpr std::uint8_t kNoDepth = 255;
    struct Run {
        std::vector<std::uint32_t> numbers; ///< block numbers in the spill
        std::size_t count = 0;
    };
    class Cursor;

    std::vector<Run> m_runs;
    std::vector<BlockRef> m_preview;
    std::size_t m_previewedPieces = 0; ///< pieces of m_pieces that have a preview
    std::uint32_t m_previewOrdinal = 0;
    std::vector<Piece> m_pieces;
    std::size_t m_count = 0;
    bool m_bySource = false;            ///< Depth::BySource
    std::vector<SortKey> m_order;       ///< place = piece and position; empty if the pieces are already in order
    std::vector<std::uint8_t> m_depths; ///< by position in the order
    Overlaps m_overlaps;
};

/// Samples of one counter that an importer adds in any order. Samples beyond the memory budget go to a spill as sorted
/// runs, which are merged at the end.
class BulkCounter {
public:
    void add(std::vector<CounterSample>&& samples, SampleMeaning meaning);

    /// Moves the samples in memory to `spill` as one run. Samples that cannot be written stay in memory.
    void spill(SliceSpill& spill);

    struct Sealed {
        std::vector<SampleRef> spilled; ///< sorted by time
        std::uint64_t lost = 0;         ///< samples that can no longer be read
    };
    /// All samples sorted by time, with equal times in order of arrival; for a counter of changes, their running sums.
    /// If the counter spilled, the result goes to the spill as far as the spill accepts it.
    /// @param keep  called with each sample that stays in memory; these samples follow the spilled ones
    Sealed seal(SliceSpill* spill, const std::function<void(const CounterSample&)>& keep);

private:
    static constexpr std::size_t kPieceSamples = 8192; ///< samples in one piece of a run
    using Run = std::vector<SampleRef>;
    class Cursor;

    std::vector<CounterSample> takeMemory();
    Sealed merge(SliceSpill& spill, const std::function<void(const CounterSample&)>& keep);

    std::vector<std::vector<CounterSample>> m_pieces;
    std::vector<Run> m_runs;
    TraceTime m_last = TraceTime::min();
    bool m_inOrder = true;
    SampleMeaning m_meaning = SampleMeaning::Value;
};

} // namespace profiler
