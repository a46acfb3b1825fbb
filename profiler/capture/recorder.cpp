#include "profiler/capture/recorder.h"

#include "profiler/capture/recorder_state.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/os/process.h"
#include "profiler/os/threads.h"

#include <algorithm>
#include <bit>
#include <random>
#include <string>

namespace profiler::capture {

namespace {

constexpr std::uint32_t kMaxTracks = 16'384;
constexpr std::uint64_t kStringCapacity = 64 << 20;
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

} // namespace profiler::capture
