#pragma once

#include "app/look/kind_palette.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// What happened within a range of time, over all tracks. Times are exclusive (a slice without what lies inside it) and
/// clipped to the range, so that they add up; tracks work side by side, so that the sum may exceed the range.
struct RangeSums {
    struct Sum {
        std::string name; ///< of slices; empty where summed by class
        SliceClass which = SliceClass::Other;
        std::int64_t count = 0;
        profiler::Nanoseconds self{};
        profiler::Nanoseconds longestDuration{};
        profiler::SliceId longest;
    };
    profiler::TimeRange range;
    std::int64_t count = 0;
    profiler::Nanoseconds self{}; ///< of everything
    std::vector<Sum> byClass;     ///< most time first
    std::vector<Sum> byName;      ///< most time first, at most kMostNames
    std::int64_t names = 0;       ///< how many different ones there are
    bool stopped = false;         ///< asked to stop before it was done

    static constexpr std::size_t kMostNames = 500;
};

/// O(n log n) in the slices of the range: run it off the GUI thread. Steps themselves are left out: they contain all.
RangeSums rangeSums(const profiler::Trace& trace, profiler::TimeRange range, const std::stop_token& stop = {});

} // namespace app
