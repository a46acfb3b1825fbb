#pragma once

#include "profiler/io/formats/json/assemble.h"
#include "profiler/io/formats/json/event_sink.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace profiler::formats::json {

/// Counters of a file, each a track from its first sample on. Of the committing thread.
class CounterSeries {
public:
    /// The samples of the next part of the file.
    void add(SharedBuild& shared, const std::vector<Sample>& samples);
    /// No part follows: the tracks get their names.
    /// @param units  by counters' names
    void finish(SharedBuild& shared, const Processes& processes, const std::map<std::string, std::string>& units);

private:
    struct Series {
        std::optional<TrackId> track;
        std::vector<CounterSample> samples; ///< of this part
        bool isBytes = false;
    };
    using Key = std::tuple<std::uint32_t, std::uint32_t, bool>; ///< lane, name, whether they are changes

    std::map<Key, Series> m_series;
};

} // namespace profiler::formats::json
