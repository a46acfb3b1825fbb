#pragma once

#include "profiler/model/trace.h"

#include <memory>
#include <string>
#include <string_view>

namespace profiler {

/// The only maker of traces. Feed it tracks, slices and counters, take snapshots; sealed blocks are shared between
/// snapshots and never rebuilt. Not thread-safe: one thread feeds and snapshots.
class TraceBuilder {
public:
    TraceBuilder();
    ~TraceBuilder();

    /// Returns the pool's id of `text`; equal texts give equal ids.
    StringId intern(std::string_view text);
    /// The text of an id that intern() gave; valid as long as the builder and its traces.
    [[nodiscard]] std::string_view string(StringId id) const;
    /// `track.id` is set here.
    TrackId addTrack(Track track);
    void renameTrack(TrackId id, std::string name);
    /// What is known of a track changed: everything but its id is replaced.
    void updateTrack(TrackId id, Track track);
    void addDevice(Device device);
    void setMetadata(std::string key, std::string value);
    void setFormat(std::string format);
    CaptureStats& captureStats();

    /// A whole slice; `slice.id` is ignored. With `kUnknownDepth` the nesting is found from the intervals when the
    /// track is sealed, and found anew when slices come that hold it. A CpuOp keeps its sequence number, every other
    /// kind its correlation; times are kept within ±73 years. A slice that a begin() announced (same track, begin and
    /// name) completes it and takes its id.
    void add(TrackId track, const Slice& slice);
    /// A slice that began and has not ended: shows as open until add() completes it.
    void begin(TrackId track, const Slice& slice);
    void addSample(TrackId counter, CounterSample sample);

    /// What is known so far. Open slices end at the latest time seen on any track and carry slice_flag::kOpen.
    [[nodiscard]] std::shared_ptr<const Trace> snapshot();
    /// Seals everything; the builder is spent.
    [[nodiscard]] std::shared_ptr<const Trace> finish();

    static constexpr std::uint8_t kUnknownDepth = 255;

private:
    struct State;
    std::unique_ptr<State> m;
};

} // namespace profiler
