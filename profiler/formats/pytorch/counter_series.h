#pragma once

#include "profiler/formats/pytorch/assemble.h"
#include "profiler/formats/pytorch/event_sink.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace profiler::formats::json {

/// The counters of a file. Each becomes a track when its first sample arrives. Used by the committing thread only.
class CounterSeries {
public:
    /// Adds the samples of the next part of the file.
    void add(SharedBuild& shared, const std::vector<Sample>& samples);
    /// Gives the tracks their names; called after the last part.
    /// @param units  units by counter name
    void finish(SharedBuild& shared, const Processes& processes, const std::map<std::string, std::string>& units);

private:
    struct Series {
        std::optional<TrackId> track;
        std::vector<CounterSample> samples; ///< samples of the current part
        bool isBytes = false;
    };
    using Key = std::tuple<std::uint32_t, std::uint32_t, bool>; ///< row, name, whether the samples are changes

    std::map<Key, Series> m_series;
};

} // namespace profiler::formats::json
