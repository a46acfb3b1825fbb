// Joins the starts and ends of ranges that consist of two events (B and E, b and e), first in each part of the file,
// then across parts. A range is on the row of its start.
#pragma once

#include "profiler/formats/pytorch/scan_result.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace profiler::formats::json {

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
    /// Closes the range at `place`, as returned by find(), and counts a mismatch.
    /// @return its start, with the duration set
    RangeEnd close(std::pair<Match, std::size_t> place, const RangeEnd& end, Losses& losses);
    /// True if so many ranges are open that a search for a name would not reach ranges of earlier parts.
    [[nodiscard]] bool isDeep() const { return m_open.size() >= kDeepest; }
    /// Returns all open ranges, outermost first, and clears them.
    [[nodiscard]] std::vector<RangeEnd> takeAll() { return std::exchange(m_open, {}); }

private:
    static constexpr std::size_t kDeepest = 512; ///< number of innermost open ranges that are searched for a name

    std::vector<RangeEnd> m_open;
};

/// Joins the starts and ends of ranges in one part of the file, if no other part can change the result. Each scanning
/// thread has its own instance.
class PartRanges {
public:
    /// @param gathered  keys that are not joined here; may be null
    explicit PartRanges(std::shared_ptr<const RangeKeys> gathered) : m_gathered(std::move(gathered)) {}

    void add(const RangeEnd& end) { m_ends.push_back(end); }
    /// Ends the part: joined ranges go to `take`, the rest goes to `result`.
    void end(ScanResult& result, const TakeRange& take);

private:
    struct Group {
        RangeGroup range;
        std::uint32_t first = 0, last = 0; ///< ends in file order, see m_next
        bool inOrder = true;               ///< the file has them in time order
    };

    void makeGroups();
    std::uint32_t& slotOf(std::uint64_t key);
    void orderEnds(const Group& group);
    void join(std::uint64_t key, ScanResult& result, const TakeRange& take);

    std::shared_ptr<const RangeKeys> m_gathered;
    std::vector<RangeEnd> m_ends;
    std::vector<Group> m_groups;
    std::vector<std::uint32_t> m_slots; ///< by hash of the key: index into m_groups + 1; 0: free
    std::vector<std::uint32_t> m_next;  ///< by end: the next end of its group
    std::vector<std::uint32_t> m_order; ///< the ends of the current group in time order
};

/// Joins starts and ends of ranges that parts of the file could not join alone. Used by the committing thread only.
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
    void take(const RangeEnd& end, ScanResult& part);

    std::shared_ptr<const RangeKeys> m_gathered;
    RangeKeys m_unordered;
    std::unordered_map<std::uint64_t, std::int64_t> m_last; ///< by key: latest time
    std::unordered_map<std::uint64_t, OpenRanges> m_open;   ///< by key; only keys with open ranges
    std::deque<RangeEnd> m_ends;                            ///< the ends of the `gathered` keys
};

} // namespace profiler::formats::json
