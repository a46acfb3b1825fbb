#pragma once

#include "profiler/io/formats/json/assemble.h"
#include "profiler/io/formats/json/event_sink.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace profiler::formats::json {

/// Counters of a file, each a column of its own from the beginning. Of the committing thread.
class CounterSeries {
public:
    /// The samples of the next part of the file.
    void add(const std::vector<Sample>& samples);
    /// No part follows: gives the builder a track for each.
    /// @param units  by counters' names
    void finish(SharedBuild& shared, const Processes& processes, const std::map<std::string, std::string>& units);

private:
    struct Series {
        std::deque<CounterSample> samples; ///< a change's: what came or went
        TraceTime last = TraceTime::min();
        bool inOrder = true;
        bool isBytes = false;
    };
    using Key = std::tuple<std::uint32_t, std::uint32_t, bool>; ///< lane, name, whether they are changes

    std::map<Key, Series> m_series;
};

} // namespace profiler::formats::json
