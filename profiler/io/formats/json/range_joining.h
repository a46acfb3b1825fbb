#pragma once

#include "profiler/io/formats/json/event_sink.h"
#include "profiler/io/formats/json/range_ends.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

namespace profiler::formats::json {

/// Joins begins and ends of ranges that parts of the file could not join alone. The row of a range is its begin's. Of
/// the committing thread.
class RangeJoining {
public:
    /// @param gathered  keys whose ends are kept until all are there, since the file has them out of order; may be null
    explicit RangeJoining(std::shared_ptr<const RangeKeys> gathered) : m_gathered(std::move(gathered)) {}

    /// The next part of the file; ranges that end in it are added to its rows.
    void add(Harvest& part);
    /// No part follows: ranges without an end reach to `latest`. Adds what is left to rows of `whole`, and losses.
    void finish(Harvest& whole);
    /// Keys whose ends come in an order that needs a second reading.
    [[nodiscard]] const RangeKeys& unordered() const { return m_unordered; }

private:
    class Rows;

    void take(const RangeEnd& end, Rows& rows, Losses& losses);

    std::shared_ptr<const RangeKeys> m_gathered;
    RangeKeys m_unordered;
    std::unordered_map<std::uint64_t, std::int64_t> m_last; ///< by key: latest time
    std::unordered_map<std::uint64_t, OpenRanges> m_open;   ///< by key: where any is
    std::deque<RangeEnd> m_ends;                            ///< of `gathered` keys
};

} // namespace profiler::formats::json
