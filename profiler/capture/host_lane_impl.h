#pragma once

#include "profiler/capture/host_lane.h"
#include "profiler/capture/string_table.h"
#include "profiler/io/wire/ring_file_live.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace profiler::capture {

/// Ranges nested deeper than this are counted as dropped. Depth 255 has a meaning of its own in records.
inline constexpr std::size_t kMaxNesting = 255;

/// What a lane is behind its handle. All of it belongs to the recording thread, the atomics of the header excepted.
struct HostLane::Impl {
    /// A range that has not ended: its record but for what the end adds.
    struct Range {
        wire::EventRecord record;
        bool open; ///< by open(), with a Begin record
    };
    struct CachedAt {
        const char* address = nullptr;
        std::string_view text; ///< the table's own copy
        std::uint32_t id = 0;
    };
    struct Cached {
        std::size_t hash = 0;
        std::string_view text; ///< the table's own copy
        std::uint32_t id = 0;
        bool used = false;
    };

    /// @param lane  null header: a lane without a ring, which drops and counts
    Impl(StringTable& table, wire::LiveRing::Lane lane, std::uint32_t capacity);
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    /// Trace time in ns; never runs backwards on a lane.
    std::int64_t now();
    void put(const wire::EventRecord& record);
    /// Place for a range that begins; null when they nest too deep, counted.
    Range* begin();
    /// Ends the innermost range; null when it is not there, counted.
    Range* end();
    /// Puts the record of a range that has ended.
    void write(Range& range, std::int64_t end, std::int64_t bytes);
    void countUnmatched();
    /// A new thread takes the lane: nothing is nested.
    void reset();

    StringTable& strings;
    wire::LaneHeader ownHeader{}; ///< of a lane without a ring
    wire::LaneHeader* header;
    wire::EventRecord* records;
    std::uint64_t capacity; ///< a power of two, or 0
    std::uint64_t written = 0;
    std::uint64_t readSeen = 0; ///< the reader's index as last looked at: saves its cache line
    /// What a record says of its nesting.
    [[nodiscard]] std::uint8_t shownDepth() const
    {
        return byIntervals ? kDepthByIntervals : static_cast<std::uint8_t>(depth);
    }
    static constexpr std::uint8_t kDepthByIntervals = 255;

    /// Of the innermost phase and step, for other threads.
    std::atomic<std::uint32_t> phase{0};
    std::atomic<std::int64_t> step{-1};
    void publishPlace(ActivityKind changed);
    [[nodiscard]] HostLane::Place place() const;

    bool byIntervals = false;
    std::int64_t lastNow = 0;
    std::size_t depth = 0;
    std::uint64_t tooDeep = 0; ///< ranges open beyond the stack
    std::array<Range, kMaxNesting> stack;

    // A few hundred names of operators fit; two places for each hash, the newer first.
    static constexpr std::size_t kCachedStrings = 2048;
    std::array<Cached, kCachedStrings> cache;
    static constexpr std::size_t kCachedAddresses = 512;
    std::array<CachedAt, kCachedAddresses> byAddress;
};

} // namespace profiler::capture
