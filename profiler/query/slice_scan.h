#pragma once

#include "profiler/model/track_slices.h"
#include "profiler/query/trace_tables.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Iterates over the slices that a query may need. It reads only the columns that its conditions compare, and skips
/// blocks that cannot contain such a slice.
namespace profiler::query {

/// Closed interval of integers; empty if last < first.
struct Bounds {
    std::int64_t first = std::numeric_limits<std::int64_t>::min();
    std::int64_t last = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] bool contains(std::int64_t value) const { return first <= value && value <= last; }
    [[nodiscard]] bool isEmpty() const { return last < first; }
    [[nodiscard]] bool isAll() const;
    void clip(Bounds other);
};

/// Conditions on names. Each distinct name is compared once.
class NameConditions {
public:
    enum class Pattern { Like, Glob };

    /// Only this name.
    void restrictTo(StringId name);
    /// Only these names.
    void restrictTo(const Trace& trace, const std::vector<StringId>& names);
    /// Only names that match, with the meaning of SQLite's operators LIKE and GLOB.
    void addPattern(const Trace& trace, Pattern kind, std::string pattern);

    [[nodiscard]] bool isAll() const { return !m_only && m_known.empty(); }
    [[nodiscard]] bool accepts(const Trace& trace, std::uint32_t name);

private:
    enum class Answer : std::uint8_t { Unknown, Yes, No };
    struct Condition {
        Pattern kind;
        std::string text;
    };
    std::optional<std::uint32_t> m_only;
    std::vector<Answer> m_known; ///< by string id; empty: only m_only counts
    std::vector<Condition> m_patterns;
};

/// Which slices a scan visits.
struct SliceFilter {
    bool isEmpty = false;                       ///< no slice fulfils the conditions
    std::optional<std::vector<SliceId>> ids;    ///< visit only these
    std::optional<std::vector<TrackId>> tracks; ///< only of these tracks
    std::optional<std::vector<Bounds>> windows; ///< only with a start in one of these; sorted, disjoint
    Bounds start, end, duration, depth;
    std::uint32_t kinds = ~0U; ///< one bit per ActivityKind
    NameConditions names;
};

class SliceScan {
public:
    SliceScan(const Session& session, SliceFilter filter);

    /// Moves to the next slice. False at the end, and if the query must stop.
    bool advance();
    [[nodiscard]] bool wasStopped() const { return m_stopped; }
    [[nodiscard]] TrackId track() const { return m_track; }
    [[nodiscard]] std::uint32_t position() const { return m_current; }
    [[nodiscard]] const BlockPin& block() const { return m_block; }

private:
    bool advanceIds();
    bool nextBlock();
    bool enter(const BlockRef& ref);
    [[nodiscard]] bool accepts(std::uint32_t position);

    const Session& m_session;
    SliceFilter m_filter;
    std::vector<TrackId> m_tracks;
    std::vector<Bounds> m_windows;
    std::size_t m_nextId = 0;
    std::size_t m_nextTrack = 0, m_nextWindow = 0; ///< m_nextWindow counts within the track
    std::span<const BlockRef> m_blocks;            ///< not yet visited, of the current track and window
    TrackId m_track;
    Bounds m_window;
    BlockPin m_block;
    std::uint32_t m_current = 0, m_next = 0, m_end = 0;
    bool m_checksRows = false; ///< some condition must be checked for each slice
    bool m_stopped = false;
};

/// The column of a slice by which its rows can be put into order without comparing texts.
struct SortKey {
    SliceColumn column; ///< Name, Kind, Track, Depth or Step
    bool descending = false;
};

/// All slices of a scan, in an order. Takes 28 bytes per slice while it is made, and 12 afterwards: names and durations
/// are copied, because reading them in this order from the columns would cost a cache miss each.
class SortedSlices {
public:
    /// @param grouped  it suffices that equal slices are neighbours
    /// @return none if the scan was stopped
    static std::optional<SortedSlices> make(const Session& session, SliceScan& scan, const std::vector<SortKey>& keys,
                                            bool grouped);
    /// True if the slices of a trace can be sorted in a reasonable amount of memory.
    static bool canSort(const Trace& trace);

    bool advance();
    [[nodiscard]] TrackId track() const { return m_blocks[m_block].track; }
    [[nodiscard]] std::uint32_t position() const { return m_position; }
    [[nodiscard]] const BlockPin& block() const { return m_blocks[m_block].pin; }
    [[nodiscard]] std::uint32_t name() const { return m_entries[m_next - 1].name; }
    [[nodiscard]] std::int64_t duration() const
    {
        const std::uint32_t duration = m_entries[m_next - 1].duration;
        return duration == kLong ? block()->columns.duration(m_position) : std::int64_t{duration};
    }

private:
    static constexpr std::uint32_t kLong = 0xffffffff; ///< for a duration that needs more bits
    struct Entry {
        std::uint32_t place; ///< number of the block << kPositionBits | position
        std::uint32_t name, duration;
    };
    struct Block {
        TrackId track;
        BlockPin pin;
    };
    static constexpr std::uint32_t kPositionBits = 16;

    void sortBy(const Session& session, SortKey key, bool grouped);
    [[nodiscard]] std::vector<std::uint32_t> keysOf(const Session& session, SliceColumn column, bool grouped,
                                                    std::uint32_t& count) const;

    std::vector<Block> m_blocks;
    std::vector<Entry> m_entries;
    std::size_t m_next = 0;
    std::uint32_t m_block = 0, m_position = 0;
};

} // namespace profiler::query
