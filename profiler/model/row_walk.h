#pragma once

#include "profiler/model/block_ref.h"

#include <array>
#include <cstdint>
#include <optional>

namespace profiler {

/// What one row has in one bucket.
struct RowPart {
    std::uint32_t count = 0; ///< entries that overlap the bucket
    double covered = 0;      ///< ns
    Longest longest;
};

/// Goes over a row from bucket to bucket. Where a bucket holds some hundred entries or more its edges are looked up
/// among groups of entries, of which it then holds eight or more, and what of a group lies beyond an edge is taken to
/// be spread evenly: so a bucket costs the same however many slices there are. Elsewhere all is exact.
class RowWalk {
public:
    /// @param width   of the coming buckets, ns
    /// @param pin     of the block; read when an answer needs it, by any of the block's rows
    RowWalk(const BlockRef& ref, BlockPin& pin, const Row& row, std::int64_t width);

    /// What lies in [begin, end); begins and ends rise from call to call.
    [[nodiscard]] RowPart next(std::int64_t begin, std::int64_t end);

private:
    /// An edge of a bucket among the groups of a level.
    struct Cut {
        std::uint32_t group = 0;
        double entries = 0; ///< before the edge
        double covered = 0; ///< ns before the edge
    };
    [[nodiscard]] const RowLevel* level(int number);
    [[nodiscard]] Cut cutAt(const RowLevel& level, std::int64_t time, std::uint32_t guess) const;
    [[nodiscard]] RowPart between(int number, const Cut& from, const Cut& to);
    [[nodiscard]] RowPart exactly(std::int64_t begin, std::int64_t end);
    bool load();

    const BlockRef* m_ref;
    BlockPin* m_pin;
    const Row* m_row;
    int m_level;               ///< where to look first; below m_lowest: exactly
    int m_lowest;              ///< the lowest level to look at
    bool m_neverExact = false; ///< m_lowest is as exact as it gets
    std::array<std::optional<RowLevel>, 8> m_levels;
    bool m_failed = false;
    std::int64_t m_edge = 0; ///< of m_cut: where the last bucket ended
    bool m_haveCut = false;
    Cut m_cut;
    std::uint32_t m_stride = 0; ///< groups in the last bucket
    std::uint32_t m_entry = 0;  ///< where the entries of the next bucket begin, when exact
    std::uint32_t m_expect = 0; ///< entries in the last bucket, when exact
};

} // namespace profiler
