#include "profiler/capture/recorder.h"

#include "profiler/capture/fast_clock.h"
#include "profiler/capture/run_tables.h"
#include "profiler/capture/thread_buffer_impl.h"
#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/model/number_text.h"
#include "profiler/os/process.h"
#include "profiler/os/signals.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
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

namespace {

constexpr std::uint32_t kMaxTracks = 16'384;
constexpr std::uint64_t kStringCapacity = 64 << 20;
constexpr std::int64_t kClockEveryNs = 1'000'000'000;
// Limit for device work waiting for a file that cannot be written. Beyond it, records are dropped, so that a full disk
// does not fill the memory.
constexpr std::size_t kMaxPendingRecords = 1 << 20;

std::uint64_t nextInstance()
{
    static std::atomic<std::uint64_t> s_next{1};
    return s_next.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t randomRunId()
{
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

container::Payload eventPayload(std::uint32_t track, std::uint64_t firstIndex,
                                std::span<const container::EventRecord> first,
                                std::span<const container::EventRecord> second = {})
{
    constexpr std::size_t kUsualBytes = 16;
    container::Payload payload;
    payload.reserve(sizeof(container::PackedBatch) + (first.size() + second.size()) * kUsualBytes);
    container::appendPackedEvents(payload, {track, 0, firstIndex}, first, second);
    return payload;
}

} // namespace

Recorder::State::State(const RecorderOptions& wanted, std::unique_ptr<container::LiveRing> ringFile,
                       std::unique_ptr<container::FrameWriter> file)
    : options(wanted), instance(nextInstance()), ring(std::move(ringFile)), strings(*ring), tracks(*ring),
      writer(std::move(file)),
      memoryError(makeError<"recorder.memory", "out of memory; recording stopped at that point">(
          Error::Code::Unavailable, options.path.string(),
          "free memory, or record less: a lower level or a shorter time"))
{
    container::appendMetadata(memoryNote, strings.intern("memory.note").id,
                              strings.intern(messageLine(memoryError.what)).id);
}

Recorder::Recorder() = default;

Recorder::~Recorder()
{
    if (m)
        static_cast<void>(finish()); // the error is kept for error(); it cannot be reported from here
}

Result<std::unique_ptr<Recorder>> Recorder::start(const RecorderOptions& wanted)
{
    RecorderOptions options = wanted;
    if (options.maxThreads < 1 || options.drainEvery <= Nanoseconds{0} || options.ringEvents > (1U << 26))
        return fail<"recorder.options", "the recorder options are invalid">(
            Error::Code::Invalid, options.path.string(),
            "use at least one thread, a positive interval, and at most 2^26 events per thread");
    options.ringEvents = std::bit_ceil(std::max<std::size_t>(options.ringEvents, 2));
    const std::uint64_t runId = randomRunId();
    const container::RingLayout layout{static_cast<std::uint32_t>(options.maxThreads),
                                       static_cast<std::uint32_t>(options.ringEvents), kMaxTracks, kStringCapacity};
    // Create the ring first: the trace of an earlier run is replaced only when nothing else can fail.
    auto ring = container::LiveRing::create(container::ringPath(options.path), layout, runId);
    if (!ring)
        return tl::unexpected(ring.error());
    auto writer = container::FrameWriter::create(options.path, runId, options.replace);
    if (!writer)
        return tl::unexpected(writer.error());
    if (auto named = (*ring)->publish(); !named)
        return tl::unexpected(named.error());

    std::unique_ptr<Recorder> recorder(new Recorder);
    recorder->m = std::make_unique<State>(options, std::move(*ring), std::move(*writer));
    if (auto first = recorder->m->drain(); !first)
        return tl::unexpected(first.error());
    if (auto started = recorder->m->startThread(); !started)
        return tl::unexpected(started.error());
    return recorder;
}

ThreadBuffer& Recorder::addBuffer(std::string_view name, TrackKind kind)
{
    return m->acquireBuffer(name, kind, 0).buffer;
}

ThreadBuffer& Recorder::thisThread()
{
    if (ThreadBuffer* buffer = bufferOfThisThread(m->instance))
        return *buffer;
    return nameThisThread("thread " + std::to_string(os::threadId()), TrackKind::Thread);
}

ThreadBuffer& Recorder::nameThisThread(std::string_view name, TrackKind kind)
{
    if (ThreadBuffer* buffer = bufferOfThisThread(m->instance)) {
        const std::uint32_t id = intern(name);
        const std::lock_guard lock(m->buffersMutex);
        State::BufferSlot* slot = m->slotOf(buffer);
        slot->name = id;
        slot->kind = kind;
        m->tracks.rename(slot->track, id, kind);
        return *buffer;
    }
    ThreadBuffer& buffer = m->acquireBuffer(name, kind, os::threadId()).buffer;
    setBufferOfThisThread(m->instance, &buffer, m->released);
    return buffer;
}

ThreadBuffer& Recorder::addBufferOfThisThread(std::string_view name, TrackKind kind)
{
    ThreadBuffer& buffer = m->acquireBuffer(name, kind, 0).buffer;
    keepBufferForThisThread(m->instance, &buffer, m->released);
    return buffer;
}

std::uint32_t Recorder::intern(std::string_view text)
{
    return m->strings.intern(text).id;
}

std::string Recorder::text(std::uint32_t id) const
{
    return m->strings.text(id);
}

void Recorder::setMetadata(std::string_view key, std::string_view value)
{
    if (m->lacksMemory)
        return;
    const std::pair entry(intern(key), intern(value));
    const std::lock_guard lock(m->pendingMutex);
    m->metadata.push_back(entry);
}

void Recorder::nameProcess(std::string_view name)
{
    const container::ProcessEntry entry{os::processId(), intern(name), 0};
    const std::lock_guard lock(m->pendingMutex);
    m->processes.push_back(entry);
}

void Recorder::addDevice(DeviceId id, std::string_view name, std::string_view uuid, const DeviceFacts& facts)
{
    container::Payload entry;
    container::appendDevice(entry, {id.value, intern(name), intern(uuid), 0},
                            {facts.memoryBytes, facts.computeMajor, facts.computeMinor},
                            {facts.multiprocessors, facts.limits.threads, facts.limits.blocks, facts.limits.registers,
                             facts.limits.sharedMemory});
    const std::lock_guard lock(m->pendingMutex);
    m->devices.push_back(std::move(entry));
    m->deviceNumbers.insert_or_assign(std::string(uuid), id);
}

std::optional<DeviceId> Recorder::deviceOf(std::string_view uuid) const
{
    const std::lock_guard lock(m->pendingMutex);
    const auto known = m->deviceNumbers.find(uuid);
    return known != m->deviceNumbers.end() ? std::optional(known->second) : std::nullopt;
}

std::uint32_t Recorder::addCounter(std::string_view name, std::string_view unit)
{
    return m->tracks.counterTrack(intern(name), intern(unit));
}

std::uint32_t Recorder::streamTrack(DeviceId device, StreamId stream)
{
    if (const auto known = m->tracks.findStream(device, stream))
        return *known;
    return m->tracks.streamTrack(device, stream, intern("stream " + std::to_string(stream.value)));
}

std::uint32_t Recorder::threadTrack(std::int64_t tid)
{
    if (const auto known = m->tracks.findThread(tid))
        return *known;
    return m->tracks.threadTrack(tid, intern("thread " + std::to_string(tid)));
}

std::uint32_t Recorder::namedTrack(std::string_view name, TrackKind kind)
{
    return m->tracks.namedTrack(intern(name), kind);
}

void Recorder::addBatch(std::uint32_t track, std::span<const container::EventRecord> records)
{
    if (records.empty())
        return;
    const std::lock_guard lock(m->pendingMutex);
    if (m->lacksMemory || m->pendingRecords + records.size() > kMaxPendingRecords) {
        m->otherLosses.dropped += records.size();
        m->ring->countLoss(records.size(), 0);
        return;
    }
    m->pendingRecords += records.size();
    m->batches.push_back({track, {records.begin(), records.end()}});
}

void Recorder::beginCrossThread(const void* owner, ActivityKind kind, std::uint32_t name, std::int64_t link)
{
    container::EventRecord begin{};
    begin.type = container::EventType::Begin;
    begin.kind = kind;
    begin.depth = ThreadBuffer::Impl::kDepthByIntervals;
    begin.name = name;
    begin.begin = toNs(TraceClock::now());
    begin.link = link;
    const std::uint32_t track = namedTrack("asynchronous operators", TrackKind::Thread);
    addBatch(track, {&begin, 1});
    m->crossThreadRanges.begin(owner, track, begin);
}

void Recorder::endCrossThread(const void* owner)
{
    if (const auto whole = m->crossThreadRanges.end(owner, toNs(TraceClock::now())))
        addBatch(whole->track, {&whole->record, 1});
}

void Recorder::countLoss(std::uint64_t dropped, std::uint64_t unmatched)
{
    const std::lock_guard lock(m->pendingMutex);
    m->otherLosses.dropped += dropped;
    m->otherLosses.unmatched += unmatched;
    m->ring->countLoss(dropped, unmatched);
}

Result<void> Recorder::flush()
{
    return m->drain();
}

Result<void> Recorder::finish()
{
    return m->finish();
}

void Recorder::leaveToParent()
{
    m->writer->close(); // without the lock, because another thread of the parent may have held it at the fork
}

Result<void> Recorder::error() const
{
    return m->error();
}

CaptureStats Recorder::stats() const
{
    CaptureStats stats;
    const container::LossEntry lost = m->losses();
    stats.dropped = lost.dropped;
    stats.unmatched = lost.unmatched;
    {
        const std::lock_guard lock(m->errorMutex);
        stats.notes = m->notes;
    }
    if (const auto failed = error(); !failed)
        stats.notes.push_back(failed.error().asMessage());
    return stats;
}

void Recorder::stopForLackOfMemory() noexcept
{
    m->stopForLackOfMemory();
}

Recorder::State::BufferSlot* Recorder::State::slotOf(const ThreadBuffer* buffer)
{
    const auto at =
        std::find_if(buffers.begin(), buffers.end(), [&](const BufferSlot& slot) { return &slot.buffer == buffer; });
    return at != buffers.end() ? &*at : nullptr;
}

/// Reuses the buffer of a thread that has ended. A buffer with the same name keeps its track, so that workers that are
/// restarted each epoch stay on their rows; any other buffer must be drained first, because its track changes.
Recorder::State::BufferSlot* Recorder::State::reuseBuffer(std::uint32_t name, TrackKind kind, std::int64_t tid,
                                                          Reuse which)
{
    for (ThreadBuffer* buffer : released->list()) {
        BufferSlot* slot = slotOf(buffer);
        const bool same = slot->name == name && slot->kind == kind;
        const bool usable = (slot->impl.capacity > 0) != (which == Reuse::WithoutRing) &&
                            (same || (which != Reuse::SameName && slot->isDrained()));
        if (!usable || !released->take(buffer))
            continue;
        slot->impl.reset();
        if (same) {
            if (tid != 0)
                tracks.joinThread(slot->track, tid);
            return slot;
        }
        slot->name = name;
        slot->kind = kind;
        slot->track = tracks.bufferTrack(name, kind, tid);
        slot->trackBegin = slot->impl.written;
        std::atomic_ref(slot->impl.header->trackBegin).store(slot->trackBegin, std::memory_order_relaxed);
        std::atomic_ref(slot->impl.header->track).store(slot->track, std::memory_order_release);
        return slot;
    }
    return nullptr;
}

bool Recorder::State::anyReleasedRing()
{
    const std::vector<ThreadBuffer*> left = released->list();
    return std::any_of(left.begin(), left.end(),
                       [&](const ThreadBuffer* buffer) { return slotOf(buffer)->impl.capacity > 0; });
}

/// There are more threads than expected: their events are lost and counted; everything else is recorded.
void Recorder::State::noteBufferWithoutRing(const Message& why)
{
    {
        const std::lock_guard lock(errorMutex);
        if (std::find(notes.begin(), notes.end(), why) != notes.end())
            return;
        notes.push_back(why);
    }
    const std::pair entry(strings.intern("threads.note").id, strings.intern(messageLine(why)).id);
    const std::lock_guard lock(pendingMutex);
    metadata.push_back(entry);
}

Recorder::State::BufferSlot& Recorder::State::newBuffer(std::uint32_t name, TrackKind kind, std::int64_t tid)
{
    const std::uint32_t track = tracks.bufferTrack(name, kind, tid);
    container::LiveRing::Lane memory;
    if (auto made = ring->addLane(track)) {
        memory = *made;
    } else {
        ringsUsedUp = true;
        if (made.error().code == Error::Code::Unavailable)
            noteBufferWithoutRing(made.error().asMessage());
        else
            keepError(made.error());
    }
    BufferSlot& slot =
        buffers.emplace_back(strings, crossThreadRanges, memory, static_cast<std::uint32_t>(options.ringEvents));
    slot.name = name;
    slot.kind = kind;
    slot.track = track;
    return slot;
}

Recorder::State::BufferSlot& Recorder::State::acquireBuffer(std::string_view name, TrackKind kind, std::int64_t tid)
{
    const std::uint32_t id = strings.intern(name).id;
    bool undrained = false;
    {
        const std::lock_guard lock(buffersMutex);
        if (BufferSlot* slot = reuseBuffer(id, kind, tid, Reuse::SameName))
            return *slot;
        if (std::ssize(buffers) < options.maxThreads && !ringsUsedUp)
            return newBuffer(id, kind, tid);
        if (BufferSlot* slot = reuseBuffer(id, kind, tid, Reuse::WithRing))
            return *slot;
        undrained = anyReleasedRing();
    }
    if (undrained)
        static_cast<void>(drain()); // so that the buffer of a thread that has ended can be reused; an error is kept for
                                    // error()
    const std::lock_guard lock(buffersMutex);
    if (BufferSlot* slot = reuseBuffer(id, kind, tid, Reuse::WithRing))
        return *slot;
    if (BufferSlot* slot = reuseBuffer(id, kind, tid, Reuse::WithoutRing))
        return *slot;
    return newBuffer(id, kind, tid);
}

Result<void> Recorder::State::startThread()
{
    Result<void> started;
    const os::BlockedSignals blocked; // signals are meant for the program's own threads
    try {
        thread = std::thread([this] { run(); });
    } catch (const std::system_error& none) {
        started = fail<"recorder.no_thread", "cannot start the thread that writes the trace: {why}">(
            Error::Code::Unavailable, options.path.string(), "raise the thread limit (ulimit -u)",
            {{"why", none.what()}});
    }
    return started;
}

void Recorder::State::run()
{
    os::nameThread("trace writer");
    std::unique_lock lock(wakeMutex);
    while (!wake.wait_for(lock, options.drainEvery, [&] { return stopping; })) {
        lock.unlock();
        try {
            static_cast<void>(drain());   // the first error is kept for error()
        } catch (const std::bad_alloc&) { // there was no memory for creating an error either
            stopForLackOfMemory();
        }
        lock.lock();
    }
}

Result<void> Recorder::State::drain()
{
    FastClock::adjust();
    const std::lock_guard lock(draining);
    if (finished)
        return {};
    writer->keepOpen(); // its lock shows that this process is alive, even if there is nothing to write
    // First write frames that did not fit on the disk; newer events stay in the rings until then.
    if (auto written = writeFrames(); !written)
        return written;
    if (!lacksMemory)
        collectOrStop();
    if (lacksMemory && !isMemoryNoteWritten)
        isMemoryNoteWritten = writer->write(container::FrameType::Metadata, memoryNote).has_value();
    if (lacksMemory)
        return tl::unexpected(memoryError);
    return writeFrames();
}

void Recorder::State::collectOrStop() noexcept
{
    try {
        collect();
        return;
    } catch (const std::bad_alloc&) {
        stopForLackOfMemory();
    }
    // Strings, tracks and the threads' events are still in the ring file; device work is lost.
    frames.clear();
    const std::lock_guard lock(pendingMutex);
    countLost(std::exchange(taken, {}));
}

void Recorder::State::stopForLackOfMemory() noexcept
{
    if (lacksMemory.exchange(true))
        return;
    const std::lock_guard lock(pendingMutex);
    countLost(std::exchange(batches, {}));
    pendingRecords = 0;
}

void Recorder::State::countLost(const std::vector<Batch>& gone) noexcept
{
    std::uint64_t records = 0;
    for (const Batch& batch : gone)
        records += batch.records.size();
    otherLosses.dropped += records;
    ring->countLoss(records, 0);
}

Result<void> Recorder::State::writeFrames()
{
    while (!frames.empty()) {
        const Frame& frame = frames.front();
        if (auto written = writer->write(frame.type, frame.payload); !written) {
            keepError(written.error());
            return written;
        }
        if (frame.slot) {
            std::atomic_ref(frame.slot->impl.header->read).store(frame.drained, std::memory_order_release);
        }
        frames.pop_front();
        countBytes();
    }
    return {};
}

void Recorder::State::countBytes()
{
    if (options.maxBytes == 0 || isFull)
        return;
    const std::uint64_t written = writer->bytesWritten(), added = written - countedBytes;
    countedBytes = written;
    const std::uint64_t used = options.usedBytes ? options.usedBytes->fetch_add(added) + added : written;
    if (used <= options.maxBytes)
        return;
    isFull = true;
    const Message note =
        message<"recorder.full", "Recording stopped when {limit} were written (--max-size); the program continued.">(
            {{"limit", options.maxBytes, bytesText(options.maxBytes)}});
    {
        const std::pair entry(strings.intern("size.note").id, strings.intern(messageLine(note)).id);
        const std::lock_guard lock(pendingMutex);
        metadata.push_back(entry);
    }
    if (options.onFull)
        options.onFull();
}

/// Collects events first, then the tracks and strings that they refer to, because those existed before the event. In
/// the file, the order is reversed.
void Recorder::State::collect()
{
    std::vector<Frame> events;
    collectEvents(events);
    std::vector<Frame> entries;
    {
        const std::lock_guard lock(pendingMutex);
        for (container::Payload& device : devices)
            entries.push_back({container::FrameType::Device, std::move(device)});
        devices.clear();
        for (const container::ProcessEntry& process : processes)
            container::appendProcess(entries.emplace_back(Frame{container::FrameType::Process, {}}).payload, process);
        processes.clear();
        if (!metadata.empty())
            entries.push_back({container::FrameType::Metadata, {}});
        for (const auto& [key, value] : metadata)
            container::appendMetadata(entries.back().payload, key, value);
        metadata.clear();
    }
    const std::int64_t now = toNs(TraceClock::now());
    if (!lastClock || now - *lastClock >= kClockEveryNs) {
        container::appendClock(frames.emplace_back(Frame{container::FrameType::Clock, {}}).payload, readClocks());
        lastClock = now;
    }
    auto trackPayloads = tracks.takeNew();
    for (container::Payload& payload : strings.takeNew())
        frames.push_back({container::FrameType::Strings, std::move(payload)});
    for (container::Payload& payload : trackPayloads)
        frames.push_back({container::FrameType::Tracks, std::move(payload)});
    std::move(entries.begin(), entries.end(), std::back_inserter(frames));
    std::move(events.begin(), events.end(), std::back_inserter(frames));
    const container::LossEntry lost = losses();
    if (lost.dropped != lastLoss.dropped || lost.unmatched != lastLoss.unmatched) {
        container::appendLoss(frames.emplace_back(Frame{container::FrameType::Loss, {}}).payload, lost);
        lastLoss = lost;
    }
    taken.clear();
}

void Recorder::State::collectEvents(std::vector<Frame>& events)
{
    {
        const std::lock_guard lock(pendingMutex);
        taken.swap(batches);
        pendingRecords = 0;
    }
    const std::lock_guard lock(buffersMutex);
    for (BufferSlot& slot : buffers) {
        const ThreadBuffer::Impl& buffer = slot.impl;
        const std::uint64_t end = std::atomic_ref(buffer.header->written).load(std::memory_order_acquire);
        std::uint64_t at = std::atomic_ref(buffer.header->read).load(std::memory_order_relaxed);
        while (at < end) {
            const std::uint64_t count = std::min<std::uint64_t>(end - at, container::kMaxPackedRecords);
            const std::uint64_t first = at & (buffer.capacity - 1);
            const std::uint64_t upToEnd = std::min(count, buffer.capacity - first);
            events.push_back({container::FrameType::PackedEvents,
                              eventPayload(slot.track, at - slot.trackBegin, {buffer.records + first, upToEnd},
                                           {buffer.records, count - upToEnd}),
                              &slot, at + count});
            at += count;
        }
    }
    for (const Batch& batch : taken) {
        std::span<const container::EventRecord> left = batch.records;
        while (!left.empty()) {
            std::size_t count = std::min(left.size(), container::kMaxPackedRecords);
            if (left[count - 1].type == container::EventType::Device && count > 1)
                --count; // must stay together with its second half
            events.push_back({container::FrameType::PackedEvents,
                              eventPayload(batch.track, container::kNotFromRing, left.first(count))});
            left = left.subspan(count);
        }
    }
}

container::LossEntry Recorder::State::losses()
{
    container::LossEntry sum{};
    const std::lock_guard lock(buffersMutex);
    for (const BufferSlot& slot : buffers) {
        sum.dropped += std::atomic_ref(slot.impl.header->dropped).load(std::memory_order_relaxed);
        sum.unmatched += std::atomic_ref(slot.impl.header->unmatched).load(std::memory_order_relaxed);
    }
    const std::lock_guard pendingLock(pendingMutex);
    sum.dropped += otherLosses.dropped;
    sum.unmatched += otherLosses.unmatched;
    return sum;
}

Result<void> Recorder::State::finish()
{
    {
        const std::lock_guard lock(wakeMutex);
        stopping = true;
    }
    wake.notify_all();
    if (thread.joinable())
        thread.join();
    bool isDrained = false;
    try {
        isDrained = drain().has_value();
    } catch (const std::bad_alloc&) {
        stopForLackOfMemory();
    }
    const std::lock_guard lock(draining);
    if (!finished && isDrained) {
        // Without an End frame, the ring file is kept: it contains what did not fit on the disk.
        if (auto ended = writer->write(container::FrameType::End, {}))
            ring->remove();
        else
            keepError(ended.error());
    }
    finished = true;
    writer->close();
    return error();
}

Result<void> Recorder::State::error() const
{
    const std::lock_guard lock(errorMutex);
    if (firstError)
        return tl::unexpected(*firstError);
    if (lacksMemory)
        return tl::unexpected(memoryError);
    return {};
}

void Recorder::State::keepError(const Error& error)
{
    const std::lock_guard lock(errorMutex);
    if (!firstError)
        firstError = error;
}

Result<PartRecording> startPart(const std::filesystem::path& trace, RecorderOptions options)
{
    options.replace = false;
    const std::string first = trace.string() + "." + std::to_string(os::processId());
    options.path = first;
    for (int number = 2;; ++number) {
        std::error_code ignored;
        const bool isFree = !std::filesystem::exists(options.path, ignored);
        auto started = isFree ? Recorder::start(options) : Result<std::unique_ptr<Recorder>>{};
        if (isFree && started)
            return PartRecording{std::move(*started), options.path};
        // Another process may have taken the name between the two calls.
        if (isFree && !std::filesystem::exists(options.path, ignored))
            return tl::unexpected(started.error());
        options.path = first + "." + std::to_string(number);
    }
}

} // namespace profiler::capture
