#pragma once

#include "profiler/capture/thread_buffer.h"
#include "profiler/io/wire/records.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace profiler::capture {

/// What is known of a GPU besides its name.
struct DeviceFacts {
    int computeMajor = 0, computeMinor = 0; ///< compute capability; 0, 0 where unknown
    std::int64_t memoryBytes = 0;           ///< 0 where unknown
};

struct RecorderOptions {
    std::filesystem::path path;       ///< the trace file; the ring file is `path` + ".ring"
    std::size_t ringEvents = 1 << 16; ///< per thread; rounded up to a power of two
    int maxThreads = 64; ///< at the same time; of more, the events are lost and counted, which stats() notes
    Nanoseconds drainEvery = std::chrono::milliseconds(50); ///< how often the writer thread empties the rings
    bool replace = true; ///< a trace of that name is replaced; false: it makes start() fail
};

/// Takes events of host threads in per-thread rings (no lock, no allocation, no I/O on the recording thread) and writes
/// them with one writer thread as frames. Rings that are full drop and count. Thread-safe unless said otherwise.
class Recorder {
public:
    static Result<std::unique_ptr<Recorder>> start(const RecorderOptions& options);
    /// finish(), if that was not called.
    ~Recorder();
    /// For a child by fork, which has a copy of this recorder without its writer thread: closes the child's copy of the
    /// trace file, whose lock would say that the parent is alive for as long as the child is. The copy is of no other
    /// use.
    void leaveToParent();

    /// Makes a lane (a track). A lane belongs to the thread that writes to it; it lives as long as the recorder.
    /// Returns a lane that drops and counts when maxThreads are in use.
    ThreadBuffer& addLane(std::string_view name, TrackKind kind);
    /// The lane of the calling thread, made on first use ("thread <tid>" unless nameThisThread was called).
    ThreadBuffer& thisThread();
    /// Gives the calling thread's lane a name and kind; call before its first event.
    ThreadBuffer& nameThisThread(std::string_view name, TrackKind kind);

    /// A further lane of the calling thread, which a thread to come takes over when this one ends.
    ThreadBuffer& addLaneOfThisThread(std::string_view name, TrackKind kind);

    /// Id of a string that lives as long as the run. Interns by content; takes a lock, so keep the id.
    std::uint32_t intern(std::string_view text);
    /// The text of an id that intern() gave; "" for others.
    [[nodiscard]] std::string text(std::uint32_t id) const;
    void setMetadata(std::string_view key, std::string_view value);
    /// The name of this process, shown with its tracks: "python train.py".
    void nameProcess(std::string_view name);
    void addDevice(DeviceId id, std::string_view name, std::string_view uuid, const DeviceFacts& facts = {});
    /// The number of a GPU that addDevice() has told, by its UUID.
    [[nodiscard]] std::optional<DeviceId> deviceOf(std::string_view uuid) const;
    /// A counter track; add samples through ThreadBuffer::sample on any lane of the calling thread.
    std::uint32_t addCounter(std::string_view name, std::string_view unit);

    /// A device stream's track number, made on first use. Called by the CUPTI source (its buffer-completed thread).
    std::uint32_t streamTrack(DeviceId device, StreamId stream);
    /// The track of a host thread by its system thread id: its lane's, else one made on first use, which the thread's
    /// lane takes over when it comes. For runtime calls that CUPTI reports by thread.
    std::uint32_t threadTrack(std::int64_t tid);
    /// A track for batches that are of no thread and no stream, made on first use.
    std::uint32_t namedTrack(std::string_view name, TrackKind kind);
    /// Hands over decoded device work or runtime calls of one track, sorted or not. Copies; may take a lock.
    void addBatch(std::uint32_t track, std::span<const wire::EventRecord> records);
    /// A range that is known to end on whichever thread: it is on the track of all such, which overlap as they like,
    /// from its begin on. See ThreadBuffer::push for `owner`.
    void beginCrossThread(const void* owner, ActivityKind kind, std::uint32_t name, std::int64_t link);
    /// The end of a range that ThreadBuffer::popOwned() did not find: one of beginCrossThread(), or one that another thread's
    /// lane has, which takes note of it with its next range.
    void endCrossThread(const void* owner);
    void countLoss(std::uint64_t dropped, std::uint64_t unmatched);

    /// Everything recorded before this call is in the file when it returns.
    Result<void> flush();
    /// Drains, writes End, removes the ring file, ends the writer thread. The first error of the writer (disk full) is
    /// returned here and by error().
    Result<void> finish();
    [[nodiscard]] Result<void> error() const;
    [[nodiscard]] CaptureStats stats() const;

    /// Call where memory ran out while something was recorded: nothing more is recorded and the trace says so, but the
    /// program goes on. The ring file stays, because it holds what the writer thread could no longer write. Any thread;
    /// allocates nothing. The recorder's own thread calls it too.
    void stopForLackOfMemory() noexcept;

private:
    Recorder();
    struct State;
    std::unique_ptr<State> m;
};

} // namespace profiler::capture
