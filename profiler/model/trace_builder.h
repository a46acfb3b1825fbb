#pragma once

#include "profiler/model/slice_columns.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace profiler {

class BlockRef;    // track_slices.h
struct SampleRef;  // track_slices.h
class SliceSpill;  // track_slices.h
struct LocalPools; // pools.h
struct PoolRemap;  // pools.h

/// Where the depths of slices come from.
enum class Depth {
    Inferred, ///< from the intervals: one deeper than the slice around it
    BySource, ///< like Inferred; on equal intervals, the slice with the lower RawSlice::source() contains the others
    Given,    ///< RawSlice::depth
};

/// One end of an arrow recorded in a file: the innermost slice of `track` that contains `time`. If slices start exactly
/// at `time`, the innermost of these.
struct FlowEnd {
    TrackId track;
    TraceTime time{};
    bool ofNext = false; ///< use the first slice that starts at `time` or later instead; if there are several, the
                         ///< outermost
};

/// Slices of a track that start within another slice and end after it.
struct Overlaps {
    std::uint64_t count = 0;
    std::uint64_t first = 0; ///< the smallest RawSlice::source() among them
};

/// What the samples of a counter mean.
enum class SampleMeaning : std::uint8_t {
    Value,
    Change, ///< difference from the previous value: the counter is the running sum
};

/// Creates traces; nothing else does. Add tracks, slices and counters, and take snapshots; sealed blocks are shared
/// between snapshots and never rebuilt. Not thread-safe: one thread adds and takes snapshots.
///
/// Live traces arrive slice by slice (add, begin, snapshot). Files are read in bulk: any number of threads create
/// RawSlices with names and arguments from their own LocalPools, and one thread passes them on (merge, addMany,
/// finish).
class TraceBuilder {
public:
    TraceBuilder();
    ~TraceBuilder();

    /// Returns the pool's id for `text`; equal texts get equal ids.
    StringId intern(std::string_view text);
    /// The text of an id returned by intern(); valid as long as the builder or one of its traces exists.
    [[nodiscard]] std::string_view string(StringId id) const;
    /// Sets `track.id`.
    TrackId addTrack(Track track);
    [[nodiscard]] const std::string& trackName(TrackId id) const;
    /// Replaces everything about a track except its id.
    void updateTrack(TrackId id, Track track);
    void addDevice(Device device);
    void setMetadata(std::string key, std::string value);
    void setFormat(std::string format);
    CaptureStats& captureStats();

    /// Adds a complete slice; `slice.id` is ignored. With `kUnknownDepth`, the nesting is inferred from the intervals
    /// when the track is sealed, and again when later slices contain it. A CpuOp keeps its sequence number, all other
    /// kinds keep their correlation id; times are clamped to ±73 years. If begin() announced the slice (same track,
    /// start and name), this completes it and keeps its id.
    void add(TrackId track, const Slice& slice);
    /// Adds a slice that has started but not ended: it appears as open until add() completes it.
    void begin(TrackId track, const Slice& slice);
    void addSample(TrackId counter, CounterSample sample);

    /// Adds many samples of a counter, in any order; several calls for one counter accumulate. As with addMany(),
    /// finish() does the work, and snapshot() does not show the samples before that. Use either addSample() or this for
    /// a counter, not both.
    void addSamples(TrackId counter, std::vector<CounterSample>&& samples, SampleMeaning meaning);

    /// Returns the id of a launch configuration for SliceArgs::launch; equal ones get equal ids, an empty one gets 0.
    LaunchId internLaunch(const LaunchConfig& launch);
    /// Returns the id of `args` for RawSlice::args; equal arguments get equal ids. `args.shapes`, `args.types` and
    /// `args.launch` are ids of this builder.
    std::uint32_t internArgs(const SliceArgs& args);
    /// Takes over the names, launch configurations and arguments that a thread interned. The result maps ids of `pools`
    /// to ids of this builder.
    [[nodiscard]] std::shared_ptr<const PoolRemap> merge(const LocalPools& pools);
    /// Adds many slices of a track, in any order; finish() sorts them. Several calls for one track accumulate.
    /// `ordinal` is ignored: ordinals become positions in the order of beginsBefore, with ties in order of arrival.
    /// This call is cheap; finish() does the work, and snapshot() does not show the slices before sealPreview(). Use
    /// either add() or addMany() for a track, not both.
    /// @param remap  for slices whose `name` and `args` are ids of a LocalPools; null if they are this builder's ids
    void addMany(TrackId track, std::vector<RawSlice>&& slices, Depth depth,
                 std::shared_ptr<const PoolRemap> remap = {});
    /// From now on, slices and samples of addMany() and addSamples() beyond `budget` bytes (48 per slice, 16 per
    /// sample) go to `spill`, and so do the blocks built from them.
    void setSpill(std::shared_ptr<SliceSpill> spill, std::uint64_t budget);
    /// Sets blocks of a track that were sealed elsewhere, with starts and ordinals increasing from block to block; they
    /// replace those of an earlier call. No slices can be added to such a track.
    void setBlocks(TrackId track, std::vector<BlockRef> blocks);
    /// Sets samples of a counter that are stored elsewhere, sorted by time; they replace those of an earlier call, and
    /// precede those of addSample(). Not for a counter that uses addSamples().
    void setSamples(TrackId counter, std::vector<SampleRef> parts);
    /// Adds arrows given by the slices at their ends, in addition to those of addFlow().
    void addFlows(std::vector<Flow> flows);
    /// Adds an arrow recorded in the file, in addition to those by correlation and sequence number. Arrows that repeat
    /// one of those are dropped, and so are arrows with an end at which there is no slice; a note gives the number of
    /// the latter. Visible only in the finished trace.
    void addFlow(FlowKind kind, FlowEnd from, FlowEnd to);
    /// Sets the reader of slice details.
    void setArgSource(std::shared_ptr<const ArgSource> source);

    /// Makes snapshots show the slices passed to addMany() so far, while more of them arrive; depths and ids of these
    /// slices will be different in the finished trace. No other call of this builder may run at the same time, except
    /// intern() and internArgs().
    /// @return bytes of memory used since the last call, until finish()
    std::size_t sealPreview();
    /// Seals the slices passed to addMany(); no more of them may be added. finish() calls this if it has not been
    /// called.
    /// @param threads  how many threads may work, including the calling one
    void seal(unsigned threads, const std::stop_token& stop = {});
    /// Overlaps among the slices of a track whose depths seal() found.
    [[nodiscard]] Overlaps overlaps(TrackId track) const;
    /// The trace so far. Open slices end at the latest time seen on any track and have slice_flag::kOpen.
    [[nodiscard]] std::shared_ptr<const Trace> snapshot();
    /// Seals everything; the builder cannot be used afterwards. Null if it was stopped.
    /// @param threads  how many threads may work, including the calling one
    [[nodiscard]] std::shared_ptr<const Trace> finish(unsigned threads = 1, const std::stop_token& stop = {});

    /// The end of a trace, as a trace: the slices that overlap [from, its end), with their ids. Everything else,
    /// including counters, is that of the whole trace, except that arrows recorded in the file are dropped. The cost
    /// depends on the number of slices kept, not on the size of the whole trace.
    [[nodiscard]] static std::shared_ptr<const Trace> endOf(const Trace& trace, TraceTime from);

    /// A trace with the slices and samples of some tracks only. Ids do not change; the other tracks still exist but are
    /// empty, and devices without a selected track are dropped. Everything else is that of the whole trace, except that
    /// arrows recorded in the file are dropped. Shares the slices: the cost depends on the number of tracks and blocks.
    /// @param wanted  indexed by track id
    [[nodiscard]] static std::shared_ptr<const Trace> ofTracks(const Trace& trace, const std::vector<bool>& wanted);

    static constexpr std::uint8_t kUnknownDepth = 255;

private:
    /// Copies everything of a trace except its slices.
    static void copyFrame(const Trace& trace, Trace& part);

    struct State;
    std::unique_ptr<State> m;
};

} // namespace profiler
