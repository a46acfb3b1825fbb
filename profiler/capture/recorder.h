#pragma once

#include "profiler/capture/thread_buffer.h"
#include "profiler/formats/container/frame.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The recorder: takes the events of a process from its threads, and writes them to a trace file.
namespace profiler::capture {

/// Properties of a GPU in addition to its name.
struct DeviceFacts {
    int computeMajor = 0, computeMinor = 0; ///< compute capability; 0, 0 if unknown
    std::int64_t memoryBytes = 0;           ///< 0 if unknown
    int multiprocessors = 0;                ///< 0 if unknown
    MultiprocessorLimits limits{};
};

struct RecorderOptions {
    std::filesystem::path path;       ///< the trace file; the ring file is `path` + ".ring"
    std::size_t ringEvents = 1 << 16; ///< per thread; rounded up to a power of two
    int maxThreads = 64; ///< maximum number of concurrent threads; events of further threads are dropped and counted,
                         ///< see stats()
    Nanoseconds drainEvery = std::chrono::milliseconds(50); ///< how often the writer thread empties the rings
    bool replace = true; ///< replace an existing trace; if false, start() fails instead

    std::uint64_t maxBytes = 0; ///< see `onFull`; 0: no limit
    /// What several recorders have written together, which the limit applies to; null: only this one.
    std::atomic<std::uint64_t>* usedBytes = nullptr;
    /// Called once when the limit is exceeded, on the writer's thread or in flush(): it should end the recording soon,
    /// on another thread. The trace then says that it was stopped.
    void (*onFull)() = nullptr;
};

/// Records events of host threads into per-thread rings (no lock, no allocation and no I/O on the recording thread);
/// one writer thread writes them to the file as frames. Rings that are full drop events and count them. Thread-safe
/// unless stated otherwise.
class Recorder {
public:
    static Result<std::unique_ptr<Recorder>> start(const RecorderOptions& options);
    /// Calls finish() if it has not been called.
    ~Recorder();
    /// For a child process after fork, which has a copy of this recorder without its writer thread: closes the child's
    /// copy of the trace file. Otherwise, the file's lock would indicate that the parent is alive for as long as the
    /// child is. The copy is of no other use.
    void leaveToParent();

    /// Creates a thread buffer (a track). A buffer belongs to the thread that writes to it, and exists as long as the
    /// recorder. If maxThreads are in use, returns a buffer that drops events and counts them.
    ThreadBuffer& addBuffer(std::string_view name, TrackKind kind);
    /// The buffer of the calling thread, created on first use ("thread <tid>" unless nameThisThread was called).
    ThreadBuffer& thisThread();
    /// Sets the name and kind of the calling thread's buffer; call it before the first event.
    ThreadBuffer& nameThisThread(std::string_view name, TrackKind kind);

    /// An additional buffer for the calling thread, which a later thread may reuse when this one has ended.
    ThreadBuffer& addBufferOfThisThread(std::string_view name, TrackKind kind);

    /// Id of a string, valid as long as the run. Interns by content; takes a lock, so keep the id.
    std::uint32_t intern(std::string_view text);
    /// The text of an id returned by intern(); "" for other ids.
    [[nodiscard]] std::string text(std::uint32_t id) const;
    void setMetadata(std::string_view key, std::string_view value);
    /// Sets the name of this process, shown with its tracks: "python train.py".
    void nameProcess(std::string_view name);
    void addDevice(DeviceId id, std::string_view name, std::string_view uuid, const DeviceFacts& facts = {});
    /// The number of a GPU that was passed to addDevice(), by its UUID.
    [[nodiscard]] std::optional<DeviceId> deviceOf(std::string_view uuid) const;
    /// Creates a counter track; add samples with ThreadBuffer::sample on any buffer of the calling thread.
    std::uint32_t addCounter(std::string_view name, std::string_view unit);

    /// The track number of a device stream, created on first use. Called by the CUPTI source (in its buffer-completed
    /// thread).
    std::uint32_t streamTrack(DeviceId device, StreamId stream);
    /// The track of a host thread by its system thread id: that of its buffer, or else a track created on first use,
    /// which the thread's buffer takes over later. For runtime calls that CUPTI reports by thread.
    std::uint32_t threadTrack(std::int64_t tid);
    /// A track for batches that belong to no thread and no stream, created on first use.
    std::uint32_t namedTrack(std::string_view name, TrackKind kind);
    /// Adds decoded device work or runtime calls of one track, in any order. Copies the records; may take a lock.
    void addBatch(std::uint32_t track, std::span<const container::EventRecord> records);
    /// Starts a range that may end on any thread. From its start on, it is on a separate track for such ranges, which
    /// may overlap. See ThreadBuffer::push for `owner`.
    void beginCrossThread(const void* owner, ActivityKind kind, std::uint32_t name, std::int64_t link);
    /// Ends a range that ThreadBuffer::popOwned() did not find: one of beginCrossThread(), or one in the buffer of
    /// another thread, which handles the end with its next range.
    void endCrossThread(const void* owner);
    void countLoss(std::uint64_t dropped, std::uint64_t unmatched);

    /// When this returns, everything recorded before the call is in the file.
    Result<void> flush();
    /// Drains the rings, writes End, removes the ring file, and ends the writer thread. The first error of the writer
    /// (such as a full disk) is returned here and by error().
    Result<void> finish();
    [[nodiscard]] Result<void> error() const;
    [[nodiscard]] CaptureStats stats() const;

    /// Call if memory runs out while recording: recording stops and the trace says so, but the program continues. The
    /// ring file is kept, because it contains what the writer thread can no longer write. Thread-safe; allocates
    /// nothing. The recorder's own thread calls it too.
    void stopForLackOfMemory() noexcept;

private:
    Recorder();
    struct State;
    std::unique_ptr<State> m;
};

/// The recording of one process, which becomes one part of a merged trace (collect_parts.h).
struct PartRecording {
    std::unique_ptr<Recorder> recorder;
    std::filesystem::path path;
};

/// Starts this process's part of `trace`: `<trace>.<pid>`, with a number appended if a file of that name exists. A
/// program that replaces itself by exec keeps its pid, and processes in two pid namespaces can have the same one: a
/// part of another process is never overwritten.
/// @param options  everything except the path
Result<PartRecording> startPart(const std::filesystem::path& trace, RecorderOptions options);

} // namespace profiler::capture
