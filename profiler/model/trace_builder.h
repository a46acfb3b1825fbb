#pragma once

#include "profiler/model/raw_slice.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace profiler {

class BlockRef;    // block_ref.h
struct SampleRef;  // block_ref.h
class SliceSpill;  // slice_spill.h
struct LocalPools; // pools.h
struct PoolRemap;  // pools.h

/// Where the depths of slices come from.
enum class Depth {
    Inferred, ///< from the intervals: one deeper than what contains the slice
    BySource, ///< the same; of slices of one interval those with a lower RawSlice::source() contain the others
    Given,    ///< RawSlice::depth
};

/// One end of an arrow that a file gives: the innermost slice of `track` that contains `time`, of those that begin
/// right then the innermost one.
struct FlowEnd {
    TrackId track;
    TraceTime time{};
    bool ofNext = false; ///< instead the first slice that begins at `time` or later, of several the outermost one
};

/// Slices of a track that end after one that they begin in.
struct Overlaps {
    std::uint64_t count = 0;
    std::uint64_t first = 0; ///< the smallest of their RawSlice::source()
};

/// What the samples of a counter say.
enum class SampleMeaning : std::uint8_t {
    Value,
    Change, ///< what came or went since the one before: the counter is their sum
};

/// The only maker of traces. Feed it tracks, slices and counters, take snapshots; sealed blocks are shared between
/// snapshots and never rebuilt. Not thread-safe: one thread feeds and snapshots.
///
/// Live traces come slice by slice (add, begin, snapshot). Files are read in bulk: any number of threads make RawSlices
/// with names and arguments of a LocalPools of their own, and one thread hands them over (merge, addMany, finish).
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
    [[nodiscard]] const std::string& trackName(TrackId id) const;
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

    /// Many samples of a counter, in any order; several calls for one counter add up. Like addMany(): the work is
    /// finish()'s, and snapshot() does not show them before. A counter takes samples by addSample() or by this.
    void addSamples(TrackId counter, std::vector<CounterSample>&& samples, SampleMeaning meaning);

    /// Returns the id of `args` for RawSlice::args; equal arguments give equal ids. `args.shapes` and `args.types` are
    /// ids of this builder.
    std::uint32_t internArgs(const SliceArgs& args);
    /// Takes over what a thread interned. The result turns ids of `pools` into ids of this builder.
    [[nodiscard]] std::shared_ptr<const PoolRemap> merge(const LocalPools& pools);
    /// Many slices of a track, in any order, which finish() sorts; several calls for one track add up. `ordinal` is
    /// ignored: ordinals will be positions in the order of beginsBefore, arrival breaking ties. Costs nothing here; the
    /// work is finish()'s, and snapshot() does not show them before sealPreview(). A track takes slices by add() or by
    /// addMany(), not both.
    /// @param remap  for slices whose `name` and `args` are ids of a LocalPools; empty: they are this builder's
    void addMany(TrackId track, std::vector<RawSlice>&& slices, Depth depth,
                 std::shared_ptr<const PoolRemap> remap = {});
    /// From now on, what addMany() and addSamples() took beyond `budget` bytes, 48 a slice and 16 a sample, goes to
    /// `spill`, and so does what is made of it.
    void setSpill(std::shared_ptr<SliceSpill> spill, std::uint64_t budget);
    /// Blocks of a track that somebody else sealed, whose begins and ordinals rise from block to block; they replace
    /// those of an earlier call. Such a track takes no slices.
    void setBlocks(TrackId track, std::vector<BlockRef> blocks);
    /// Samples of a counter that somebody else keeps, by time; they replace those of an earlier call, and come before
    /// those of addSample(). Not for a counter of addSamples().
    void setSamples(TrackId counter, std::vector<SampleRef> parts);
    /// Arrows by the slices at their ends, beside those of addFlow.
    void addFlows(std::vector<Flow> flows);
    /// An arrow that the file gives, beside those by correlation and by sequence number; one that repeats one of those,
    /// or has an end where no slice is, is left out; of the latter a note tells how many. Seen in the finished trace
    /// only.
    void addFlow(FlowKind kind, FlowEnd from, FlowEnd to);
    /// Who reads the details of slices.
    void setArgSource(std::shared_ptr<const ArgSource> source);

    /// Has snapshots show what addMany() took so far, while more of it comes; depths and ids of these slices will be
    /// others in the finished trace. No other call of this builder may be under way but intern() and internArgs().
    /// @return bytes of memory that it took since the last call, until finish()
    std::size_t sealPreview();
    /// Seals what addMany() took; no more of it may come. finish() does it where nobody did before.
    /// @param threads  how many may work, this one included
    void seal(unsigned threads, const std::stop_token& stop = {});
    /// Of the slices of a track that seal() found depths for.
    [[nodiscard]] Overlaps overlaps(TrackId track) const;
    /// What is known so far. Open slices end at the latest time seen on any track and carry slice_flag::kOpen.
    [[nodiscard]] std::shared_ptr<const Trace> snapshot();
    /// Seals everything; the builder is spent. Null if it was stopped.
    /// @param threads  how many may work, this one included
    [[nodiscard]] std::shared_ptr<const Trace> finish(unsigned threads = 1, const std::stop_token& stop = {});

    /// The end of a trace, as a trace: its slices that overlap [from, its end), with their ids; all else, counters too,
    /// is that of the whole, but arrows that a file gives, which are left out. Costs as much as the slices that it
    /// holds, not those of the whole.
    [[nodiscard]] static std::shared_ptr<const Trace> endOf(const Trace& trace, TraceTime from);

    /// A trace with the slices and samples of some tracks only. Ids stay what they are; the other tracks are there and
    /// empty, and devices on none of the tracks are left out. All else is that of the whole, but arrows that a file
    /// gives, which are left out. Shares the slices: costs as much as there are tracks and blocks.
    /// @param wanted  by track id
    [[nodiscard]] static std::shared_ptr<const Trace> ofTracks(const Trace& trace, const std::vector<bool>& wanted);

    static constexpr std::uint8_t kUnknownDepth = 255;

private:
    /// All of a trace but its slices.
    static void copyFrame(const Trace& trace, Trace& part);

    struct State;
    std::unique_ptr<State> m;
};

} // namespace profiler
