#pragma once

#include "profiler/io/formats/json/losses.h"
#include "profiler/model/raw_slice.h"

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace profiler::formats::json {

/// The begin or end of a range that is two events (B and E, b and e).
struct RangeEnd {
    std::uint64_t key = 0;  ///< of those that are joined: a thread's, or those of an asynchronous id
    std::uint32_t lane = 0; ///< of a begin
    bool begins = false;
    bool named = false; ///< the event has a name: an end need not
    RawSlice slice;     ///< an end: its begin is the time, its duration 0
};

/// Begins and ends of one key in a part of the file.
struct RangeGroup {
    std::uint64_t key = 0;
    std::int64_t first = 0, last = 0; ///< earliest and latest time
    std::uint32_t begin = 0;          ///< index into Harvest::rangeEnds
    std::uint32_t count = 0;          ///< of those there, by time: what the part cannot join alone
};

/// Keys whose ends do not stand in the order of time in the file.
using RangeKeys = std::unordered_set<std::uint64_t>;

/// Takes a range that has both its ends, and its row.
using TakeRange = std::function<void(std::uint32_t lane, const RawSlice& slice)>;

/// The ranges of one key that have begun and not ended.
class OpenRanges {
public:
    /// Which range an end closes: the innermost of its name, or where it has none, or one of no open range, of all.
    enum class Match : std::uint8_t { Nothing, Innermost, Crossed, Other };

    [[nodiscard]] bool empty() const { return m_open.empty(); }
    void open(const RangeEnd& begin) { m_open.push_back(begin); }
    [[nodiscard]] std::pair<Match, std::size_t> find(const RangeEnd& end) const;
    /// Closes the range at `place`, which find() gave.
    /// @return its begin, with the duration
    RangeEnd close(std::size_t place, const RangeEnd& end);
    /// True where a name that is not found is of none of the ranges around these, either.
    [[nodiscard]] bool isDeep() const { return m_open.size() >= kDeepest; }
    /// What is open, outermost first; nothing is, afterwards.
    [[nodiscard]] std::vector<RangeEnd> takeAll() { return std::exchange(m_open, {}); }

private:
    static constexpr std::size_t kDeepest = 512; ///< names are looked for among so many ranges

    std::vector<RangeEnd> m_open;
};

/// Counts what is odd about how an end met its range.
void countMatch(OpenRanges::Match match, const RangeEnd& end, Losses& losses);

} // namespace profiler::formats::json
