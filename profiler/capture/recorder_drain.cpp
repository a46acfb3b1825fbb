#include "profiler/capture/clock_alignment.h"
#include "profiler/capture/fast_clock.h"
#include "profiler/capture/recorder_state.h"
#include "profiler/formats/container/frame.h"
#include "profiler/model/number_text.h"
#include "profiler/os/signals.h"
#include "profiler/os/threads.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>
#include <utility>

namespace profiler::capture {

namespace {

constexpr std::int64_t kClockEveryNs = 1'000'000'000;

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
        message<"recorder.full", "Recording stopped when {limit} were written (--max-size); the program went on.">(
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

} // namespace profiler::capture
