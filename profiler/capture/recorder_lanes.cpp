#include "profiler/capture/recorder_state.h"

#include <algorithm>

namespace profiler::capture {

Recorder::State::LaneSlot* Recorder::State::slotOf(const ThreadBuffer* lane)
{
    const auto at = std::find_if(lanes.begin(), lanes.end(), [&](const LaneSlot& slot) { return &slot.lane == lane; });
    return at != lanes.end() ? &*at : nullptr;
}

/// Reuses the buffer of a thread that has ended. A buffer with the same name keeps its track, so that workers that are
/// restarted each epoch stay on their rows; any other buffer must be drained first, because its track changes.
Recorder::State::LaneSlot* Recorder::State::reuseLane(std::uint32_t name, TrackKind kind, std::int64_t tid, Reuse which)
{
    for (ThreadBuffer* lane : released->list()) {
        LaneSlot* slot = slotOf(lane);
        const bool same = slot->name == name && slot->kind == kind;
        const bool usable = (slot->impl.capacity > 0) != (which == Reuse::WithoutRing) &&
                            (same || (which != Reuse::SameName && slot->isDrained()));
        if (!usable || !released->take(lane))
            continue;
        slot->impl.reset();
        if (same) {
            if (tid != 0)
                tracks.joinThread(slot->track, tid);
            return slot;
        }
        slot->name = name;
        slot->kind = kind;
        slot->track = tracks.laneTrack(name, kind, tid);
        slot->trackBegin = slot->impl.written;
        std::atomic_ref(slot->impl.header->trackBegin).store(slot->trackBegin, std::memory_order_relaxed);
        std::atomic_ref(slot->impl.header->track).store(slot->track, std::memory_order_release);
        return slot;
    }
    return nullptr;
}

bool Recorder::State::anyReleasedRing()
{
    const std::vector<ThreadBuffer*> lanesLeft = released->list();
    return std::any_of(lanesLeft.begin(), lanesLeft.end(),
                       [&](const ThreadBuffer* lane) { return slotOf(lane)->impl.capacity > 0; });
}

/// There are more threads than expected: their events are lost and counted; everything else is recorded.
void Recorder::State::noteLaneWithoutRing(const Message& why)
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

Recorder::State::LaneSlot& Recorder::State::newLane(std::uint32_t name, TrackKind kind, std::int64_t tid)
{
    const std::uint32_t track = tracks.laneTrack(name, kind, tid);
    wire::LiveRing::Lane memory;
    if (auto made = ring->addLane(track)) {
        memory = *made;
    } else {
        ringsUsedUp = true;
        if (made.error().code == Error::Code::Unavailable)
            noteLaneWithoutRing(made.error().asMessage());
        else
            keepError(made.error());
    }
    LaneSlot& slot = lanes.emplace_back(strings, elsewhere, memory, static_cast<std::uint32_t>(options.ringEvents));
    slot.name = name;
    slot.kind = kind;
    slot.track = track;
    return slot;
}

Recorder::State::LaneSlot& Recorder::State::acquireLane(std::string_view name, TrackKind kind, std::int64_t tid)
{
    const std::uint32_t id = strings.intern(name).id;
    bool undrained = false;
    {
        const std::lock_guard lock(lanesMutex);
        if (LaneSlot* slot = reuseLane(id, kind, tid, Reuse::SameName))
            return *slot;
        if (std::ssize(lanes) < options.maxThreads && !ringsUsedUp)
            return newLane(id, kind, tid);
        if (LaneSlot* slot = reuseLane(id, kind, tid, Reuse::WithRing))
            return *slot;
        undrained = anyReleasedRing();
    }
    if (undrained)
        static_cast<void>(drain()); // so that the buffer of a thread that has ended can be reused; an error is kept for
                                    // error()
    const std::lock_guard lock(lanesMutex);
    if (LaneSlot* slot = reuseLane(id, kind, tid, Reuse::WithRing))
        return *slot;
    if (LaneSlot* slot = reuseLane(id, kind, tid, Reuse::WithoutRing))
        return *slot;
    return newLane(id, kind, tid);
}

} // namespace profiler::capture
