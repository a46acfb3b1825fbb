#pragma once

#include "profiler/formats/perfetto/proto.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <map>
#include <vector>

namespace profiler::formats::writers {

/// The tracks of a trace as Perfetto TrackDescriptors: threads under their process; streams and device counters under
/// their device. Uses the order requested by the original file.
class PerfettoTracks {
public:
    explicit PerfettoTracks(const Trace& trace);
    /// Parents before their children.
    [[nodiscard]] const std::vector<Proto>& descriptors() const { return m_descriptors; }
    [[nodiscard]] std::uint64_t of(TrackId track) const { return track.value + 1; }
    /// Creates another track of the same name for overlapping slices; writes its descriptor to `descriptor`.
    std::uint64_t overlapTrack(TrackId track, Proto& descriptor);

private:
    std::uint64_t processOf(const Track& track);
    std::uint64_t deviceOf(const Track& track);
    std::uint64_t group(std::string_view name, std::int32_t sortIndex);

    const Trace& m_trace;
    std::vector<std::uint64_t> m_ranks; ///< by track: order among siblings
    std::vector<Proto> m_descriptors;
    std::vector<std::uint64_t> m_parents;                         ///< by track
    std::map<std::int64_t, std::uint64_t> m_processes, m_devices; ///< uuid by number
    std::uint64_t m_next;                                         ///< next uuid
};

} // namespace profiler::formats::writers
