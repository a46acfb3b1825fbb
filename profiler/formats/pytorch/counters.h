#pragma once

#include "profiler/formats/pytorch/shared_build.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace profiler::formats::json {

/// The values of a counter event.
struct CounterArgs {
    std::vector<std::pair<std::string, double>> numbers;
    std::size_t count = 0; ///< values of any type

    /// @param json  the event's arguments: an object without syntax errors, in a window
    /// @return false if a number does not fit in a double, or the object is not valid JSON
    bool read(std::string_view json);
};

/// A counter sample: an allocator's state, or an event of phase C.
struct Sample {
    std::uint32_t name = 0;  ///< StringId of the counter's name
    std::uint32_t rowId = 0; ///< represents the process
    CounterSample sample;
    bool isChange = false; ///< an increment; the counter is the running sum
    bool isBytes = false;
};

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
