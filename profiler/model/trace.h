#pragma once

#include "profiler/model/activity.h"
#include "profiler/model/clock.h"
#include "profiler/model/ids.h"
#include "profiler/model/message.h"
#include "profiler/model/result.h"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A trace, and the values that its queries return: tracks, slices, flows, counter samples and devices.
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

/// How a kernel was launched. A trace stores each distinct configuration once; kernels refer to it by
/// SliceArgs::launch.
struct LaunchConfig {
    std::array<std::uint32_t, 3> grid{};                ///< x, y, z in blocks; 0, 0, 0: not recorded
    std::array<std::uint32_t, 3> block{};               ///< x, y, z in threads; 0, 0, 0: not recorded
    std::optional<std::uint32_t> registers{};           ///< per thread
    std::optional<std::uint32_t> sharedMemory{};        ///< bytes per block, static and dynamic
    std::optional<std::uint32_t> dynamicSharedMemory{}; ///< the dynamic part; some sources only have the sum
    std::optional<std::uint32_t> localMemory{};         ///< bytes per thread

    /// Number of blocks; 0 if the grid was not recorded.
    [[nodiscard]] std::uint64_t blocks() const { return product(grid); }
    /// Number of threads per block; 0 if the block was not recorded.
    [[nodiscard]] std::uint64_t threads() const { return product(block); }

    friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;

private:
    /// The largest number if it overflows, which only sizes from a damaged file do.
    static std::uint64_t product(const std::array<std::uint32_t, 3>& sizes)
    {
        const std::uint64_t plane = std::uint64_t{sizes[0]} * sizes[1];
        constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
        return sizes[2] != 0 && plane > kMost / sizes[2] ? kMost : plane * sizes[2];
    }
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

/// What was lost between the run and the trace. Always shown to the user.
struct CaptureStats {
    std::uint64_t dropped = 0;   ///< events that did not fit into the capture buffers
    std::uint64_t unmatched = 0; ///< ends without a start, device work without its launch
    bool cut = false;            ///< the writer did not finish: the process was killed or the disk was full
    bool live = false;           ///< the writer is still running: this is a snapshot
    std::vector<Message> notes;  ///< one sentence each: what happened and where
};

/// Parts of a trace in a file that could not be read on demand: for example, the disk was removed or another program
/// truncated the file.
struct Unread {
    std::uint64_t slices = 0, samples = 0;
    std::string why; ///< the reason for one of them, for people; empty if everything could be read
};

/// Names and values of a slice's arguments as its file contains them, in the order of the file.
using SliceDetails = std::vector<std::pair<std::string, std::string>>;

/// Reads arguments that have no column from the file that a trace came from, on demand. An importer creates it and
/// passes it to the builder; the trace owns it.
class ArgSource {
public:
    virtual ~ArgSource() = default;
    /// @param source  the value passed to RawSlice::setSource: a byte offset or a row
    /// Fails if the file has changed, has been removed, or contains nothing for the slice. Thread-safe.
    [[nodiscard]] virtual Result<SliceDetails> read(std::uint64_t source) const = 0;
    /// Reads the details at many places, in order. For copies of a whole trace, in which neighbouring places follow
    /// each other. `take` returns false to stop. Thread-safe.
    virtual void readMany(std::span<const std::uint64_t> sources,
                          const std::function<bool(Result<SliceDetails>)>& take) const
    {
        for (const std::uint64_t source : sources)
            if (!take(read(source)))
                return;
    }
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
