#pragma once

#include "app/look/kind_palette.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// Time of the slices in a range, or of selected slices, over all tracks. The times are self times, clipped to the
/// range, so that they add up: without the time of nested slices that count too. Tracks run in parallel, so the sum can
/// exceed the range.
struct RangeSums {
    struct Sum {
        std::string name; ///< slice name; empty in sums by class
        SliceClass which = SliceClass::Other;
        std::int64_t count = 0;
        profiler::Nanoseconds self{};
        profiler::Nanoseconds longestDuration{};
        profiler::SliceId longest;
    };
    /// A track with slices in the range.
    struct Track {
        profiler::TrackId track;
        std::int64_t count = 0;
        profiler::Nanoseconds busy{}; ///< covered by slices, of any depth; the rest of the range is idle
    };
    profiler::TimeRange range; ///< of selected slices: from the first start to the last end
    std::int64_t count = 0;
    profiler::Nanoseconds self{}; ///< of everything
    std::vector<Sum> byClass;     ///< most time first
    std::vector<Sum> byName;      ///< most time first, at most kMostNames
    std::vector<Track> byTrack;   ///< in the order of the trace
    std::int64_t names = 0;       ///< number of distinct names
    bool stopped = false;         ///< true if it was stopped before it was complete

    static constexpr std::size_t kMostNames = 500;
};

/// O(n log n) in the slices of the range; do not call on the GUI thread. Step slices are left out because they contain
/// all others.
RangeSums rangeSums(const profiler::Trace& trace, profiler::TimeRange range, const std::stop_token& stop = {});

/// The same for these slices only.
/// @param slices  ids of the trace, each once
RangeSums sliceSums(const profiler::Trace& trace, const std::vector<profiler::SliceId>& slices,
                    const std::stop_token& stop = {});

} // namespace app
