#pragma once

#include "profiler/model/activity.h"
#include "profiler/model/arg_source.h"
#include "profiler/model/capture_stats.h"
#include "profiler/model/clock.h"
#include "profiler/model/ids.h"
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
    NvtxDomain, ///< NVTX ranges that belong to no thread: those of a domain, or started and ended by id
    Annotation, ///< ranges of the host shown beside the device work that they launched ("gpu_user_annotation")
};
inline constexpr int kTrackKinds = static_cast<int>(TrackKind::Annotation) + 1;

/// A row of the timeline: a host thread, a loader worker, a device stream, a counter, NVTX or annotation ranges.
struct Track {
    TrackId id;
    TrackKind kind = TrackKind::Thread;
    std::string name;                  ///< "main thread", "loader worker 0", "stream 7", "loss"
    std::int64_t pid = 0;              ///< process, 0 where unknown
    std::int64_t tid = 0;              ///< system thread id, 0 for streams and counters
    DeviceId device;                   ///< Stream and Annotation only
    StreamId stream;                   ///< Stream and Annotation only
    std::string unit;                  ///< Counter only: "bytes", "samples/s", ""
    std::string processName{};         ///< of pid: "python", "python 4711"; empty where unknown
    std::int32_t sortIndex = 0;        ///< the file's wish: smaller ones of a process first; equal: in the order of ids
    std::int32_t processSortIndex = 0; ///< the file's wish: processes and devices with smaller ones first
};

/// Arguments that analyses and rules use; what does not apply is zero or Unknown.
struct SliceArgs {
    std::int64_t bytes = 0; ///< memcpy, memset, read: bytes moved
    std::int64_t value = 0; ///< Step: its index; LoaderStage: sample or batch index; Phase: batch index
    CopyKind copy = CopyKind::Unknown;
    MemoryKind src = MemoryKind::Unknown, dst = MemoryKind::Unknown;
    StringId shapes{}; ///< CpuOp: "[[32, 3, 224, 224], []]", as the file writes its inputs' sizes; 0: not recorded
    StringId types{};  ///< CpuOp: "[float, Scalar]"
    std::optional<DeviceId> device{}; ///< where the slice says so itself (a runtime call, a range shown on a device)
    std::optional<StreamId> stream{};
    friend bool operator==(const SliceArgs&, const SliceArgs&) = default;
};

/// Bits of Slice::flags.
namespace slice_flag {
inline constexpr std::uint8_t kOpen = 1;     ///< begun, never ended: the end is the last thing known of its thread
inline constexpr std::uint8_t kBackward = 2; ///< CpuOp of scope BACKWARD_FUNCTION; `sequence` is its forward's
inline constexpr std::uint8_t kAsync = 4;    ///< asynchronous copy or call
} // namespace slice_flag

/// One thing that happened, by value.
struct Slice {
    SliceId id;
    TraceTime begin{};
    Nanoseconds duration{};
    StringId name;
    ActivityKind kind = ActivityKind::Other;
    std::uint8_t depth = 0; ///< nesting within its track, 0 outermost
    std::uint8_t flags = 0;
    CorrelationId correlation;    ///< device work and runtime calls; 0: none
    std::int64_t sequence = -1;   ///< CpuOp: autograd sequence number; −1: none
    std::uint32_t externalId = 0; ///< joins an op and what it launched, where there is no nesting to tell; 0: none
    std::uint64_t source = 0;     ///< place of its text in the file it came from, see Trace::details; 0: none
    SliceArgs args;

    [[nodiscard]] constexpr TraceTime end() const { return begin + duration; }
    [[nodiscard]] constexpr TimeRange range() const { return {begin, end()}; }
    [[nodiscard]] constexpr bool is(std::uint8_t flag) const { return (flags & flag) != 0; }
};

enum class FlowKind : std::uint8_t { Launch, ForwardBackward, Async };
/// An arrow: a runtime call to its device work, a forward op to its backward node, or one slice to another that it
/// started or woke (Async: as the file says).
struct Flow {
    FlowKind kind{};
    SliceId from, to;
};

struct CounterSample {
    TraceTime time{};
    double value = 0;
};

/// What a span of pixels holds, from the level-of-detail index.
struct LodBucket {
    std::uint32_t count = 0;                 ///< slices that overlap the bucket
    float busy = 0;                          ///< share of the bucket that is covered, [0, 1]
    ActivityKind kind = ActivityKind::Other; ///< kind with the largest covered time
    StringId name;                           ///< name of the longest slice
};

/// How exactly the edges of buckets are found.
enum class LodEdges : std::uint8_t {
    Fine,   ///< by slice, unless a bucket holds hundreds of them
    Coarse, ///< by groups of 16 slices wherever a bucket holds a group or more: for a picture that moves
};

/// Device as the trace records it.
struct Device {
    DeviceId id;
    std::string name;
    std::string uuid;                       ///< empty where unknown
    int computeMajor = 0, computeMinor = 0; ///< compute capability ("sm_90" is 9, 0); 0, 0 where unknown
    std::int64_t memoryBytes = 0;           ///< of its own; 0 where unknown
};

struct TrackSlices; // track_slices.h: sealed, immutable columns of one track, shared by snapshots
struct TrackBlock;  // track_block.h: one of them

/// An immutable trace, or an immutable snapshot of one that still grows. Snapshots share their sealed blocks.
/// Made by TraceBuilder only. All queries are const and may run on any thread.
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
    /// Ids of strings are below this.
    [[nodiscard]] std::uint32_t stringCount() const;
    [[nodiscard]] std::span<const Device> devices() const;

    /// First begin to last end over all slices; empty when there is none.
    [[nodiscard]] TimeRange range() const;
    [[nodiscard]] std::size_t sliceCount() const;
    [[nodiscard]] std::size_t sliceCount(TrackId track) const;
    /// Deepest nesting of a track + 1; 0 for an empty one.
    [[nodiscard]] int depthCount(TrackId track) const;
    [[nodiscard]] Slice slice(SliceId id) const;
    [[nodiscard]] std::string_view name(const Slice& slice) const { return string(slice.name); }

    /// Every slice of `track` that overlaps `window`, block by block, each block in begin order (an outer slice may
    /// come after its inner ones in a live trace). Return false from `visit` to stop.
    void forEach(TrackId track, TimeRange window, const std::function<bool(const Slice&)>& visit) const;
    /// All slices of a track, sorted by (begin, longest first). O(n log n); for analyses.
    [[nodiscard]] std::vector<Slice> sorted(TrackId track) const;
    /// All slices of one kind over all tracks, sorted by begin.
    [[nodiscard]] std::vector<Slice> ofKind(ActivityKind kind) const;
    /// The innermost slice of `track` at `depth` that contains `time`.
    [[nodiscard]] std::optional<Slice> at(TrackId track, int depth, TraceTime time) const;
    /// Slices of `track` that begin in `window`, but at most `most`. O(log n).
    [[nodiscard]] std::size_t beginIn(TrackId track, TimeRange window, std::size_t most) const;
    /// Level of detail: `buckets.size()` equal spans of `window` at one nesting depth. Costs O(buckets × log n) however
    /// many slices there are.
    void summarize(TrackId track, int depth, TimeRange window, std::span<LodBucket> buckets,
                   LodEdges edges = LodEdges::Fine) const;

    /// All arguments of a slice as its file has them, read from the file now; empty where the file says nothing more.
    /// Fails when the file changed or went away since.
    [[nodiscard]] Result<SliceDetails> details(SliceId id) const;

    /// Arrows that start or end at a slice: those of its correlation or sequence number, and those that the file gives.
    [[nodiscard]] std::vector<Flow> flowsOf(SliceId id) const;
    /// Of those, the arrows that the file gives, each once.
    [[nodiscard]] std::span<const Flow> explicitFlows() const;

    /// Samples of a counter track, by time.
    [[nodiscard]] std::vector<CounterSample> counter(TrackId track) const;

    /// "config" (the run's configuration as JSON), "versions.torch", "host.cores", "workload"…
    [[nodiscard]] const std::map<std::string, std::string, std::less<>>& metadata() const;
    [[nodiscard]] const CaptureStats& captureStats() const;
    /// What queries could not read of it so far.
    [[nodiscard]] Unread unread() const;
    /// captureStats(), with a note of what unread() says.
    [[nodiscard]] CaptureStats losses() const;
    [[nodiscard]] std::string_view format() const; ///< "stepscope", "pytorch-json", "nsys-sqlite"

    /// For analyses that look at one column or two, and for writers of our own format: the blocks of a track, a slice
    /// in one of them, and the arguments that their slices name by number.
    [[nodiscard]] const TrackSlices& slicesOf(TrackId track) const;
    [[nodiscard]] Slice sliceAt(TrackId track, const TrackBlock& block, std::uint32_t position) const;
    [[nodiscard]] std::uint32_t argsCount() const;
    [[nodiscard]] SliceArgs args(std::uint32_t number) const;
    /// Who reads details; null where the trace's file says nothing more than the columns.
    [[nodiscard]] const ArgSource* argSource() const;

    /// Bytes of memory held by columns, indexes and strings.
    [[nodiscard]] std::size_t memoryBytes() const;

private:
    friend class TraceBuilder;
    struct Data;
    std::unique_ptr<Data> m;
};

} // namespace profiler
