#pragma once

#include "profiler/formats/pytorch/event_sink.h"
#include "profiler/formats/pytorch/range_ends.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

namespace profiler::formats::json {

/// Joins starts and ends of ranges that parts of the file could not join alone. A range is on the row of its start.
/// Used by the committing thread only.
class RangeJoining {
public:
    /// @param gathered  keys whose ends are kept until all have been read, because the file has them out of order; may
    ///                  be null
    explicit RangeJoining(std::shared_ptr<const RangeKeys> gathered) : m_gathered(std::move(gathered)) {}

    /// Adds the next part of the file. Ranges that end in it are added to its rows.
    void add(ScanResult& part);
    /// Called after the last part: ranges without an end extend to `latest`. Adds the remaining ranges to the rows of
    /// `whole`, and the losses.
    void finish(ScanResult& whole);
    /// Keys whose ends are in an order that requires a second read.
    [[nodiscard]] const RangeKeys& unordered() const { return m_unordered; }

private:
    class Rows;

    void take(const RangeEnd& end, Rows& rows, Losses& losses);

    std::shared_ptr<const RangeKeys> m_gathered;
    RangeKeys m_unordered;
    std::unordered_map<std::uint64_t, std::int64_t> m_last; ///< by key: latest time
    std::unordered_map<std::uint64_t, OpenRanges> m_open;   ///< by key; only keys with open ranges
    std::deque<RangeEnd> m_ends;                            ///< the ends of the `gathered` keys
};

} // namespace profiler::formats::json
