#pragma once

#include "profiler/model/flows.h"
#include "profiler/model/pools.h"
#include "profiler/model/trace.h"
#include "profiler/model/track_slices.h"

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace profiler {

/// Place of a slice, and its sort key.
struct SlicePlace {
    std::int64_t begin, duration;
    TrackId track;
    std::uint32_t block, position;
    std::uint8_t depth;
};

struct Trace::Data {
    std::vector<Track> tracks;
    std::vector<TrackSlices> slices; ///< by track
    std::vector<Device> devices;
    std::map<std::string, std::string, std::less<>> metadata;
    CaptureStats stats;
    std::string format;
    StringLog::View strings;
    std::size_t textBytes = 0;
    ArgsLog::View args;
    LaunchLog::View launches;
    ExplicitFlows explicitFlows;
    std::shared_ptr<const ArgSource> argSource;
    TimeRange range;
    std::size_t count = 0;

    /// Text → id. Built on the first search, because most snapshots are never searched.
    const std::unordered_map<std::string_view, StringId>& ids() const
    {
        std::call_once(idsMade, [this] {
            for (std::uint32_t i = 0; i < strings.size(); ++i)
                madeIds.emplace(strings[i].text, StringId{i});
        });
        return madeIds;
    }

    const TrackSlices& of(TrackId track) const { return slices.at(track.value); }
    Slice slice(TrackId track, const RawSlice& raw) const;
    Slice slice(TrackId track, const TrackBlock& block, std::uint32_t position) const
    {
        return slice(track, block.at(position));
    }
    /// Slices at some places, in this order; slices of a block that can no longer be read are missing.
    std::vector<Slice> slicesAt(const std::vector<SlicePlace>& places) const;

    mutable std::once_flag idsMade; ///< no lock is held while the map is built
    mutable std::unordered_map<std::string_view, StringId> madeIds;
};

} // namespace profiler
