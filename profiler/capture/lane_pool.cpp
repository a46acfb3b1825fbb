#include "profiler/capture/lane_pool.h"

#include <algorithm>
#include <new>

namespace profiler::capture {

namespace {

struct LastUsed {
    std::uint64_t recorder = 0;
    ThreadBuffer* lane = nullptr;
};
// Trivially destructible, so that they can be read while the thread's other objects are being destroyed.
thread_local constinit LastUsed t_last;
thread_local constinit bool t_ending = false;

struct LanesOfThread {
    struct Entry {
        std::uint64_t recorder;
        ThreadBuffer* lane;
        std::weak_ptr<ReleasedLanes> released;
        bool isMain; ///< returned by bufferOfThisThread()
    };
    std::vector<Entry> entries;

    ~LanesOfThread()
    {
        t_ending = true;
        t_last = {};
        for (const Entry& entry : entries)
            if (const auto released = entry.released.lock())
                released->release(entry.lane);
    }
};
thread_local LanesOfThread t_lanes;

bool remember(LanesOfThread::Entry entry)
{
    if (t_ending)
        return false;
    // Drop entries of destroyed recorders, so that they do not accumulate in a long-lived thread.
    std::erase_if(t_lanes.entries, [](const LanesOfThread::Entry& known) { return known.released.expired(); });
    t_lanes.entries.push_back(std::move(entry));
    return true;
}

} // namespace

void ReleasedLanes::release(ThreadBuffer* lane)
{
    const std::lock_guard lock(m_mutex);
    try {
        m_lanes.push_back(lane);
    } catch (const std::bad_alloc&) {
        // The buffer is never reused. The end of a thread must not end the program.
    }
}

bool ReleasedLanes::take(const ThreadBuffer* lane)
{
    const std::lock_guard lock(m_mutex);
    return std::erase(m_lanes, lane) != 0;
}

std::vector<ThreadBuffer*> ReleasedLanes::list() const
{
    const std::lock_guard lock(m_mutex);
    return m_lanes;
}

ThreadBuffer* laneOfThisThread(std::uint64_t recorder)
{
    if (t_last.recorder == recorder)
        return t_last.lane;
    if (t_ending)
        return nullptr;
    for (const LanesOfThread::Entry& entry : t_lanes.entries)
        if (entry.recorder == recorder && entry.isMain) {
            t_last = {recorder, entry.lane};
            return entry.lane;
        }
    return nullptr;
}

bool setLaneOfThisThread(std::uint64_t recorder, ThreadBuffer* lane, std::weak_ptr<ReleasedLanes> released)
{
    if (!remember({recorder, lane, std::move(released), true}))
        return false;
    t_last = {recorder, lane};
    return true;
}

bool keepLaneForThisThread(std::uint64_t recorder, ThreadBuffer* lane, std::weak_ptr<ReleasedLanes> released)
{
    return remember({recorder, lane, std::move(released), false});
}

void forgetLanesOfThisThread()
{
    t_last = {};
    if (!t_ending)
        t_lanes.entries.clear();
}

} // namespace profiler::capture
