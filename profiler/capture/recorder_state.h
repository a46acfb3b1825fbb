#pragma once

#include "profiler/capture/recorder.h"
#include "profiler/capture/string_table.h"
#include "profiler/capture/thread_buffer_impl.h"
#include "profiler/capture/thread_buffer_pool.h"
#include "profiler/capture/track_table.h"
#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/frame_writer.h"
#include "profiler/formats/container/ring_file.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace profiler::capture {

/// Locks must be taken in this order: draining, buffers, pending; the locks of the tables come last.
struct Recorder::State {
    struct BufferSlot {
        BufferSlot(StringTable& strings, CrossThreadRanges& crossThreadRanges, container::LiveRing::Lane ring,
                   std::uint32_t capacity)
            : impl(strings, crossThreadRanges, ring, capacity), buffer(&impl)
        {
        }
        [[nodiscard]] bool isDrained() const
        {
            return std::atomic_ref(impl.header->read).load(std::memory_order_acquire) == impl.written;
        }
        ThreadBuffer::Impl impl;
        ThreadBuffer buffer;
        std::uint32_t name = 0;
        TrackKind kind = TrackKind::Thread;
        std::uint32_t track = 0;
        std::uint64_t trackBegin = 0; ///< number of records in the buffer before the current track
    };
    /// A frame to be written to the file. A buffer's read index advances only when the frame has been written, so that
    /// after a kill at any moment, each record is in the ring or in the file.
    struct Frame {
        container::FrameType type;
        container::Payload payload;
        BufferSlot* slot = nullptr;
        std::uint64_t drained = 0; ///< read index of the slot after this frame has been written
    };
    struct Batch {
        std::uint32_t track;
        std::vector<container::EventRecord> records;
    };

    State(const RecorderOptions& wanted, std::unique_ptr<container::LiveRing> ringFile,
          std::unique_ptr<container::FrameWriter> file);

    BufferSlot& acquireBuffer(std::string_view name, TrackKind kind, std::int64_t tid);
    /// Which buffers of ended threads may be reused.
    enum class Reuse {
        SameName, ///< one with the same name and a ring
        WithRing, ///< any drained one with a ring
        WithoutRing
    };
    BufferSlot* reuseBuffer(std::uint32_t name, TrackKind kind, std::int64_t tid, Reuse which);
    bool anyReleasedRing();
    BufferSlot& newBuffer(std::uint32_t name, TrackKind kind, std::int64_t tid);
    void noteBufferWithoutRing(const Message& why);
    BufferSlot* slotOf(const ThreadBuffer* buffer);

    Result<void> startThread();
    void run();
    /// Writes everything that was recorded before the call.
    Result<void> drain();
    /// Converts everything recorded so far into frames. If memory runs out, recording stops.
    void collectOrStop() noexcept;
    void collect();
    void collectEvents(std::vector<Frame>& events);
    Result<void> writeFrames();
    /// Counts what was written, and reports once that the limit is exceeded. Requires `draining`.
    void countBytes();
    Result<void> finish();
    /// Losses so far; takes buffersMutex.
    container::LossEntry losses();
    void keepError(const Error& error);
    [[nodiscard]] Result<void> error() const;
    void stopForLackOfMemory() noexcept;
    /// Counts the records of batches that will not be written. Requires pendingMutex.
    void countLost(const std::vector<Batch>& gone) noexcept;

    RecorderOptions options;
    std::uint64_t instance;
    std::unique_ptr<container::LiveRing> ring;
    StringTable strings;
    TrackTable tracks;
    CrossThreadRanges crossThreadRanges;
    std::shared_ptr<ReleasedBuffers> released = std::make_shared<ReleasedBuffers>();

    std::mutex draining; ///< held while the file is written; guards what follows
    std::unique_ptr<container::FrameWriter> writer;
    std::deque<Frame> frames; ///< created but not yet written
    std::vector<Batch> taken; ///< taken from `batches`, until all frames of a round have been created
    std::optional<std::int64_t> lastClock;
    container::LossEntry lastLoss{};
    std::uint64_t countedBytes = 0;
    bool isFull = false;
    bool finished = false;

    std::mutex buffersMutex;
    std::deque<BufferSlot> buffers;
    bool ringsUsedUp = false;

    std::mutex pendingMutex;
    std::vector<Batch> batches;
    std::size_t pendingRecords = 0;
    std::vector<container::Payload> devices; ///< payloads of Device frames
    std::vector<container::ProcessEntry> processes;
    std::map<std::string, DeviceId, std::less<>> deviceNumbers; ///< by UUID
    std::vector<std::pair<std::uint32_t, std::uint32_t>> metadata;
    container::LossEntry otherLosses{};

    // Created at the start, because there may be no memory for them later.
    Error memoryError;
    container::Payload memoryNote; ///< payload of a Metadata frame
    bool isMemoryNoteWritten = false;
    std::atomic<bool> lacksMemory = false;

    mutable std::mutex errorMutex;
    std::optional<Error> firstError;
    std::vector<Message> notes; ///< what is missing although nothing failed

    std::mutex wakeMutex;
    std::condition_variable wake;
    bool stopping = false;
    std::thread thread;
};

} // namespace profiler::capture
