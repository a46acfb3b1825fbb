#pragma once

#include "profiler/model/block_ref.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstdint>
#include <optional>

namespace profiler {

/// What one row has in one bucket.
struct RowPart {
    std::uint32_t count = 0; ///< entries that overlap the bucket
    double covered = 0;      ///< ns
    bool isOne = false;      ///< see ColoredBucket
    Longest longest;
    ColorSum color; ///< over `covered`
};

/// Goes over a row from bucket to bucket. Where a bucket holds some hundred entries or more its edges are looked up
/// among groups of entries, of which it then holds sixteen or more, and what of a group lies beyond an edge is taken to
/// be spread evenly: so a bucket costs the same however many slices there are. Elsewhere, and where an edge lies in a
/// group with a pause, all is exact: entries are gone through one after the other, those of a group that lies within a
/// bucket all at once.
class RowWalk {
public:
    /// @param width   of the coming buckets, ns
    /// @param pin      of the block; read when an answer needs it, by any of the block's rows
    /// @param palette  for the colours of the parts; null: they are black
    RowWalk(const BlockRef& ref, BlockPin& pin, const Row& row, std::int64_t width, LodEdges edges,
            const SlicePalette* palette = nullptr);

    /// What lies in [begin, end); begins and ends rise from call to call.
    [[nodiscard]] RowPart next(std::int64_t begin, std::int64_t end);

private:
    /// An edge of a bucket among the groups of a level.
    struct Cut {
        std::uint32_t group = 0;
        double entries = 0; ///< before the edge
        double covered = 0; ///< ns before the edge
        double length = 0;  ///< ns from the group's begin to the next one's, where the edge's place in it is guessed
    };
    static constexpr std::int64_t kBeforeAll = -2 * RawSlice::kTimeLimit;
    /// Between two entries, when exact.
    struct Place {
        std::int64_t time = kBeforeAll;
        std::uint32_t entry = 0;           ///< the first that begins at `time` or later
        std::int64_t nextBegin = 0;        ///< when that begins; the largest time after the last entry
        std::int64_t lastEnd = kBeforeAll; ///< when that ends
    };
    [[nodiscard]] const RowLevel* level(int number);
    [[nodiscard]] Cut cutAt(const RowLevel& level, std::int64_t time, std::uint32_t guess) const;
    [[nodiscard]] RowPart between(int number, const Cut& from, const Cut& to);
    [[nodiscard]] RowPart exactly(std::int64_t begin, std::int64_t end);
    void standAt(std::int64_t time);
    [[nodiscard]] MixedColor colorOf(std::uint32_t name) const
    {
        return m_palette ? m_palette->colorOf(m_row->kind, StringId{name}) : MixedColor{};
    }
    [[nodiscard]] const RowColors* colors();
    /// Average colour of the entries between two cuts; that of `longest` where nothing more is known.
    [[nodiscard]] MixedColor colorBetween(double fromEntry, double toEntry, const Longest& longest);
    void passTo(std::int64_t end, RowPart& part);
    [[nodiscard]] std::uint32_t passGroups(std::uint32_t entry, std::int64_t end, RowPart& part);
    bool load();

    const BlockRef* m_ref;
    BlockPin* m_pin;
    const Row* m_row;
    int m_level;               ///< where to look first; below m_lowest: exactly
    int m_lowest;              ///< the lowest level to look at
    std::uint32_t m_enough;    ///< groups that a bucket holds where it is not looked at more closely
    bool m_neverExact = false; ///< m_lowest is as exact as it gets
    std::array<std::optional<RowLevel>, 8> m_levels;
    std::optional<RowEntries> m_entries; ///< once the block is read
    const SlicePalette* m_palette;
    std::optional<RowColors> m_colors; ///< once they are asked for
    bool m_finestColors = false;       ///< m_colors are made with the block in memory
    double m_sumAt = -1;               ///< entries before m_sum; −1: none
    RowColors::Sum m_sum;
    bool m_failed = false;
    std::int64_t m_edge = 0; ///< of m_cut: where the last bucket ended
    bool m_haveCut = false;
    Cut m_cut;
    std::uint32_t m_stride = 0; ///< groups in the last bucket
    Place m_place;
};

} // namespace profiler
