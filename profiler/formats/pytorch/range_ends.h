#pragma once

#include "profiler/formats/pytorch/losses.h"
#include "profiler/model/raw_slice.h"

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace profiler::formats::json {

/// The start or end of a range that consists of two events (B and E, b and e).
struct RangeEnd {
    std::uint64_t key = 0;   ///< identifies the ranges that are joined: a thread, or an asynchronous id
    std::uint32_t rowId = 0; ///< row of the start
    bool begins = false;
    bool named = false; ///< the event has a name; ends may omit it
    RawSlice slice;     ///< for an end: `begin` is the time, the duration is 0
};

/// The starts and ends of one key in a part of the file.
struct RangeGroup {
    std::uint64_t key = 0;
    std::int64_t first = 0, last = 0; ///< earliest and latest time
    std::uint32_t begin = 0;          ///< index into ScanResult::rangeEnds
    std::uint32_t count = 0;          ///< number of entries there, sorted by time, that the part could not join alone
};

/// Keys whose range ends are not in time order in the file.
using RangeKeys = std::unordered_set<std::uint64_t>;

/// Receives the row of a complete range and the range.
using TakeRange = std::function<void(std::uint32_t rowId, const RawSlice& slice)>;

/// The open ranges of one key.
class OpenRanges {
public:
    /// Which range an end closes: the innermost one with its name. Without a name, or if no open range has that name,
    /// the innermost of all.
    enum class Match : std::uint8_t { Nothing, Innermost, Crossed, Other };

    [[nodiscard]] bool empty() const { return m_open.empty(); }
    void open(const RangeEnd& begin) { m_open.push_back(begin); }
    [[nodiscard]] std::pair<Match, std::size_t> find(const RangeEnd& end) const;
    /// Closes the range at `place`, as returned by find().
    /// @return its start, with the duration set
    RangeEnd close(std::size_t place, const RangeEnd& end);
    /// True if so many ranges are open that a search for a name would not reach ranges of earlier parts.
    [[nodiscard]] bool isDeep() const { return m_open.size() >= kDeepest; }
    /// Returns all open ranges, outermost first, and clears them.
    [[nodiscard]] std::vector<RangeEnd> takeAll() { return std::exchange(m_open, {}); }

private:
    static constexpr std::size_t kDeepest = 512; ///< number of innermost open ranges that are searched for a name

    std::vector<RangeEnd> m_open;
};

/// Counts a mismatch between an end and its range.
void countMatch(OpenRanges::Match match, const RangeEnd& end, Losses& losses);

} // namespace profiler::formats::json
