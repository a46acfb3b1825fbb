#pragma once

#include "profiler/model/activity.h"
#include "profiler/model/arg_source.h"
#include "profiler/model/capture_stats.h"
#include "profiler/model/clock.h"
#include "profiler/model/ids.h"
#include "profiler/model/launch_config.h"
#include "profiler/model/unread.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profiler {

enum class TrackKind : std::uint8_t {
    Thread,
    MainThread,
    LoaderWorker,
    Stream,
    Counter,
    NvtxDomain, ///< NVTX ranges without a thread: those of a domain, or started and ended by id
    Annotation, ///< CPU ranges, shown above the device work that they launched ("gpu_user_annotation")
};
inline constexpr int kTrackKinds = static_cast<int>(TrackKind::Annotation) + 1;

/// A row of the timeline: a CPU thread, a loader worker, a device stream, a counter, NVTX or annotation ranges.
struct Track {
    TrackId id;
    TrackKind kind = TrackKind::Thread;
    std::string name;                  ///< "main thread", "loader worker 0", "stream 7", "loss"
    std::int64_t pid = 0;              ///< process id, 0 if unknown
    std::int64_t tid = 0;              ///< system thread id, 0 for streams and counters
    DeviceId device;                   ///< Stream and Annotation only
    StreamId stream;                   ///< Stream and Annotation only
    std::string unit;                  ///< Counter only: "bytes", "samples/s", ""
    std::string processName{};         ///< name of the process: "python", "python 4711"; empty if unknown
    std::int32_t sortIndex = 0;        ///< order requested by the file: smaller ones of a process first; on ties, by id
    std::int32_t processSortIndex = 0; ///< order requested by the file: processes and devices with smaller ones first
};

/// Arguments that analyses and rules use; those that do not apply are zero or Unknown.
struct SliceArgs {
    std::int64_t bytes = 0; ///< memcpy, memset, read: number of bytes
    std::int64_t value = 0; ///< Step: its index; LoaderStage: sample or batch index; Phase: batch index
    CopyKind copy = CopyKind::Unknown;
    MemoryKind src = MemoryKind::Unknown, dst = MemoryKind::Unknown;
    StringId shapes{}; ///< CpuOp: "[[32, 3, 224, 224], []]", the input sizes as written in the file; 0 if not recorded
    StringId types{};  ///< CpuOp: "[float, Scalar]"
    std::optional<DeviceId> device{}; ///< set if the slice itself names a device (a runtime call, a range shown on a
                                      ///< device)
    std::optional<StreamId> stream{};
    LaunchId launch{}; ///< Kernel: its launch configuration, see Trace::launch(); 0 if not recorded
    friend bool operator==(const SliceArgs&, const SliceArgs&) = default;
};

/// Bits of Slice::flags.
namespace slice_flag {
inline constexpr std::uint8_t kOpen = 1;     ///< started but never ended: the end is the last known time of its thread
inline constexpr std::uint8_t kBackward = 2; ///< CpuOp with scope BACKWARD_FUNCTION; `sequence` is that of its forward
                                             ///< op
inline constexpr std::uint8_t kAsync = 4;    ///< asynchronous copy or call
} // namespace slice_flag

/// One event with a duration, by value.
struct Slice {
    SliceId id;
    TraceTime begin{};
    Nanoseconds duration{};
    StringId name;
    ActivityKind kind = ActivityKind::Other;
    std::uint8_t depth = 0; ///< nesting within its track, 0 outermost
    std::uint8_t flags = 0;
    CorrelationId correlation;    ///< device work and runtime calls; 0 for none
    std::int64_t sequence = -1;   ///< CpuOp: autograd sequence number; −1 for none
    std::uint32_t externalId = 0; ///< connects an op with what it launched, if nesting does not show it; 0 for none
    std::uint64_t source = 0;     ///< place of its text in the file it came from, see Trace::details; 0 for none
    SliceArgs args;

    [[nodiscard]] constexpr TraceTime end() const { return begin + duration; }
    [[nodiscard]] constexpr TimeRange range() const { return {begin, end()}; }
    [[nodiscard]] constexpr bool is(std::uint8_t flag) const { return (flags & flag) != 0; }
};

enum class FlowKind : std::uint8_t { Launch, ForwardBackward, Async };
/// An arrow: from a runtime call to its device work, from a forward op to its backward node, or from one slice to
/// another that it started or woke (Async: as recorded in the file).
struct Flow {
    FlowKind kind{};
    SliceId from, to;
};

struct CounterSample {
    TraceTime time{};
    double value = 0;
};

/// Content of a span of pixels, from the level-of-detail index.
struct LodBucket {
    std::uint32_t count = 0;                 ///< slices that overlap the bucket
    float busy = 0;                          ///< fraction of the bucket that is covered, [0, 1]
    ActivityKind kind = ActivityKind::Other; ///< kind that covers most time
    StringId name;                           ///< name of the longest slice
};

/// How precisely the edges of buckets are located.
enum class LodEdges : std::uint8_t {
    Fine,   ///< by slice, unless a bucket holds hundreds of them
    Coarse, ///< by groups of 16 slices if a bucket holds at least one group; for a moving view
};

/// What a multiprocessor (SM) of a device can hold at one time, as recorded; 0 if unknown.
struct MultiprocessorLimits {
    int threads = 0, blocks = 0;
    int registers = 0;    ///< of 32 bits
    int sharedMemory = 0; ///< bytes
    friend bool operator==(const MultiprocessorLimits&, const MultiprocessorLimits&) = default;
};

/// A device as recorded in the trace.
struct Device {
    DeviceId id;
    std::string name;
    std::string uuid;                       ///< empty if unknown
    int computeMajor = 0, computeMinor = 0; ///< compute capability ("sm_90" is 9, 0); 0, 0 if unknown
    std::int64_t memoryBytes = 0;           ///< size of the device's memory; 0 if unknown
    int multiprocessors = 0;                ///< their number; 0 if unknown
    MultiprocessorLimits limits{};
};

struct TrackSlices; // track_slices.h: sealed, immutable columns of one track, shared by snapshots
struct TrackBlock;  // track_block.h: one block of these columns

/// An immutable trace, or an immutable snapshot of one that is still growing. Snapshots share their sealed blocks. Only
/// TraceBuilder creates traces. All queries are const and thread-safe.
class Trace {
public:
    Trace();
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    [[nodiscard]] std::span<const Track> tracks() const;
    [[nodiscard]] const Track& track(TrackId id) const;
    [[nodiscard]] std::string_view string(StringId id) const;
    [[nodiscard]] std::optional<StringId> findString(std::string_view text) const;
    /// All string ids are below this.
    [[nodiscard]] std::uint32_t stringCount() const;
    [[nodiscard]] std::span<const Device> devices() const;

    /// From the earliest start to the latest end of all slices; empty if there are none.
    [[nodiscard]] TimeRange range() const;
    [[nodiscard]] std::size_t sliceCount() const;
    [[nodiscard]] std::size_t sliceCount(TrackId track) const;
    /// Deepest nesting of a track + 1; 0 for an empty track.
    [[nodiscard]] int depthCount(TrackId track) const;
    [[nodiscard]] Slice slice(SliceId id) const;
    [[nodiscard]] std::string_view name(const Slice& slice) const { return string(slice.name); }

    /// Visits every slice of `track` that overlaps `window`, block by block, each block in order of start (an outer
    /// slice may come after its inner ones in a live trace). Return false from `visit` to stop.
    void forEach(TrackId track, TimeRange window, const std::function<bool(const Slice&)>& visit) const;
    /// All slices of a track, sorted by start, longest first. O(n log n); for analyses.
    [[nodiscard]] std::vector<Slice> sorted(TrackId track) const;
    /// All slices of one kind on all tracks, sorted by start.
    [[nodiscard]] std::vector<Slice> ofKind(ActivityKind kind) const;
    /// The innermost slice of `track` at `depth` that contains `time`.
    [[nodiscard]] std::optional<Slice> at(TrackId track, int depth, TraceTime time) const;
    /// Number of slices of `track` that start in `window`, capped at `most`. O(log n).
    [[nodiscard]] std::size_t beginIn(TrackId track, TimeRange window, std::size_t most) const;
    /// Level of detail: summarizes one nesting depth in `buckets.size()` equal spans of `window`. Costs O(buckets × log
    /// n), however many slices there are.
    void summarize(TrackId track, int depth, TimeRange window, std::span<LodBucket> buckets,
                   LodEdges edges = LodEdges::Fine) const;

    /// All arguments of a slice as its file contains them, read from the file on each call; empty if the file has no
    /// more. Fails if the file has changed or been removed.
    [[nodiscard]] Result<SliceDetails> details(SliceId id) const;

    /// Arrows that start or end at a slice: those by correlation or sequence number, and those recorded in the file.
    [[nodiscard]] std::vector<Flow> flowsOf(SliceId id) const;
    /// All arrows recorded in the file, each once.
    [[nodiscard]] std::span<const Flow> explicitFlows() const;

    /// Samples of a counter track, sorted by time.
    [[nodiscard]] std::vector<CounterSample> counter(TrackId track) const;

    /// "config" (the run's configuration as JSON), "versions.torch", "host.cores", "workload"…
    [[nodiscard]] const std::map<std::string, std::string, std::less<>>& metadata() const;
    [[nodiscard]] const CaptureStats& captureStats() const;
    /// The parts that queries could not read so far.
    [[nodiscard]] Unread unread() const;
    /// captureStats(), plus a note for what unread() reports.
    [[nodiscard]] CaptureStats losses() const;
    [[nodiscard]] std::string_view format() const; ///< "stepscope", "pytorch-json", "nsys-sqlite"

    /// For analyses that need only one or two columns, and for writers of our own format: the blocks of a track, a
    /// slice in one of them, and the arguments that their slices refer to by number.
    [[nodiscard]] const TrackSlices& slicesOf(TrackId track) const;
    [[nodiscard]] Slice sliceAt(TrackId track, const TrackBlock& block, std::uint32_t position) const;
    [[nodiscard]] std::uint32_t argsCount() const;
    [[nodiscard]] SliceArgs args(std::uint32_t number) const;
    /// The launch configuration of kernels with this SliceArgs::launch; an empty one for 0.
    [[nodiscard]] LaunchConfig launch(LaunchId id) const;
    /// All launch ids are at most this.
    [[nodiscard]] std::uint32_t launchCount() const;
    /// The reader of slice details; null if the trace's file has nothing beyond the columns.
    [[nodiscard]] const ArgSource* argSource() const;

    /// Bytes of memory used by columns, indexes and strings.
    [[nodiscard]] std::size_t memoryBytes() const;

private:
    friend class TraceBuilder;
    struct Data;
    std::unique_ptr<Data> m;
};

} // namespace profiler
