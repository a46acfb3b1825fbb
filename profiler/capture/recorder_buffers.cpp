#include "profiler/capture/recorder_state.h"

#include <algorithm>

namespace profiler::capture {

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

} // namespace profiler::capture
