#pragma once

#include "profiler/model/block_ref.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstdint>
#include <optional>

namespace profiler {

/// The part of one row that overlaps one bucket.
struct RowPart {
    std::uint32_t count = 0; ///< entries that overlap the bucket
    double covered = 0;      ///< ns
    bool isOne = false;      ///< see ColoredBucket
    Longest longest;
    ColorSum color; ///< weighted by `covered`
};

/// Walks over a row from bucket to bucket. If a bucket has about a hundred entries or more, its edges are looked up
/// among groups of entries, with at least sixteen groups per bucket. The part of a group beyond an edge is estimated by
/// assuming an even spread, so a bucket takes the same time however many slices there are. With fewer entries, and if
/// an edge falls into a group with a pause, the result is exact: entries are visited one by one, and groups that are
/// wholly inside a bucket are added as a whole.
class RowWalk {
public:
    /// @param width    of the buckets to come, in ns
    /// @param pin      of the block; set when a row of the block first needs its contents
    /// @param palette  for the colours of the parts; if null, they are black
    RowWalk(const BlockRef& ref, BlockPin& pin, const Row& row, std::int64_t width, LodEdges edges,
            const SlicePalette* palette = nullptr);

    /// The part of the row in [begin, end); both must increase from call to call.
    [[nodiscard]] RowPart next(std::int64_t begin, std::int64_t end);

private:
    /// An edge of a bucket, located among the groups of a level.
    struct Cut {
        std::uint32_t group = 0;
        double entries = 0; ///< number of entries before the edge
        double covered = 0; ///< ns covered before the edge
        double length = 0;  ///< ns from the group's start to the next group's, if the edge's place within it is
                            ///< estimated
    };
    static constexpr std::int64_t kBeforeAll = -2 * RawSlice::kTimeLimit;
    /// An exact position between two entries.
    struct Place {
        std::int64_t time = kBeforeAll;
        std::uint32_t entry = 0;           ///< the first entry that starts at `time` or later
        std::int64_t nextBegin = 0;        ///< start of that entry; the largest time after the last entry
        std::int64_t lastEnd = kBeforeAll; ///< end of the entry before it
    };
    [[nodiscard]] const RowLevel* level(int number);
    [[nodiscard]] Cut cutAt(const RowLevel& level, std::int64_t time, std::uint32_t guess) const;
    [[nodiscard]] RowPart between(int number, const Cut& from, const Cut& to);
    [[nodiscard]] RowPart exactly(std::int64_t begin, std::int64_t end);
    void moveTo(std::int64_t time);
    [[nodiscard]] MixedColor colorOf(std::uint32_t name) const
    {
        return m_palette ? m_palette->colorOf(m_row->kind, StringId{name}) : MixedColor{};
    }
    [[nodiscard]] const RowColors* colors();
    /// Average colour of the entries between two cuts; the colour of `longest` if their mix is unknown.
    [[nodiscard]] MixedColor colorBetween(double fromEntry, double toEntry, const Longest& longest);
    void passTo(std::int64_t end, RowPart& part);
    [[nodiscard]] std::uint32_t passGroups(std::uint32_t entry, std::int64_t end, RowPart& part);
    bool load();

    const BlockRef* m_ref;
    BlockPin* m_pin;
    const Row* m_row;
    int m_level;               ///< where the search starts; below m_lowest: exactly
    int m_lowest;              ///< the lowest level to use
    std::uint32_t m_enough;    ///< number of groups in a bucket that are enough for an estimate
    bool m_neverExact = false; ///< m_lowest is the most exact level available
    std::array<std::optional<RowLevel>, 8> m_levels;
    std::optional<RowEntries> m_entries; ///< set once the block has been read
    const SlicePalette* m_palette;
    std::optional<RowColors> m_colors; ///< set on first use
    bool m_finestColors = false;       ///< m_colors was built with the block in memory
    double m_sumAt = -1;               ///< number of entries included in m_sum; −1 for none
    RowColors::Sum m_sum;
    bool m_failed = false;
    std::int64_t m_edge = 0; ///< edge that m_cut belongs to: the end of the last bucket
    bool m_haveCut = false;
    Cut m_cut;
    std::uint32_t m_stride = 0; ///< number of groups in the last bucket
    Place m_place;
};

} // namespace profiler
