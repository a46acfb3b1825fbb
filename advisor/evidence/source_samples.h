#pragma once

#include "advisor/evidence/source_lines.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The document `lines` of a trace's metadata: the call stacks that the hooks sampled
/// (resources/python/stepscope/lines.py).
namespace advisor {

struct SourceSamples {
    struct Place {
        std::size_t file = 0;
        int line = 0; ///< 0: damaged
        std::string function;
    };
    struct Sample {
        profiler::TraceTime time{};
        int stack = -1;            ///< −1: outside of the user's files
        LineAllocations allocated; ///< since the previous sample
    };

    std::vector<std::string> files;
    std::vector<Place> places;
    std::vector<std::vector<std::size_t>> stacks;               ///< places, innermost first
    std::vector<Sample> samples;                                ///< by time
    std::vector<std::pair<std::size_t, LineAllocations>> exact; ///< by place
    AllocationSource allocations = AllocationSource::NotRecorded;
    double intervalUs = 0, costUs = 0;

    /// The time that a sample stands for: until the next one, but not times in which the sampling thread could not run.
    [[nodiscard]] profiler::TimeRange rangeOf(std::size_t sample) const;
    /// The stack of a sample; null if there is none.
    [[nodiscard]] const std::vector<std::size_t>* stackOf(std::size_t sample) const;
};
/// No value if the document is damaged.
std::optional<SourceSamples> readSourceSamples(std::string_view document);

/// The track of the sampled thread: the one with the steps, else the one with the phases.
std::optional<profiler::TrackId> sampledTrack(const profiler::Trace& trace);

} // namespace advisor
