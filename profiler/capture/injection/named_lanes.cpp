#include "profiler/capture/injection/named_lanes.h"

#include <algorithm>
#include <pthread.h>

namespace profiler::capture::injection {

namespace {

ActivityKind kindOf(int kind)
{
    return kind >= 0 && kind < kActivityKinds ? static_cast<ActivityKind>(kind) : ActivityKind::Other;
}

} // namespace

int NamedLanes::lane(std::string_view name, int kind)
{
    const std::lock_guard lock(m_mutex);
    const bool known =
        kind == static_cast<int>(TrackKind::MainThread) || kind == static_cast<int>(TrackKind::LoaderWorker);
    const TrackKind wanted = known ? static_cast<TrackKind>(kind) : TrackKind::Thread;
    const auto at = std::find_if(m_lanes.begin(), m_lanes.end(),
                                 [&](const Named& lane) { return lane.name == name && lane.kind == wanted; });
    if (at != m_lanes.end())
        return static_cast<int>(at - m_lanes.begin());
    m_lanes.push_back({std::string(name), wanted});
    return static_cast<int>(m_lanes.size()) - 1;
}

NamedLanes::Named* NamedLanes::find(int lane)
{
    if (lane < 0 || lane >= std::ssize(m_lanes))
        return nullptr;
    Recorder* const to = recorder();
    if (!to)
        return nullptr;
    Named& named = m_lanes[static_cast<std::size_t>(lane)];
    const std::uint64_t generation = g_generation.load();
    if (named.generation != generation || named.recorder != to) {
        named.recorder = to;
        named.lane = &to->addLane(named.name, named.kind);
        named.lane->nestByIntervals();
        named.generation = generation;
        named.open = 0;
        named.fetches.clear();
        named.fetched.reset();
        named.batch = 0;
    }
    return &named;
}

void NamedLanes::open(int lane, int kind, std::string_view name, std::int64_t value)
{
    const std::lock_guard lock(m_mutex);
    if (Named* const to = find(lane)) {
        to->lane->open(kindOf(kind), to->lane->intern(name), value);
        ++to->open;
    }
}

void NamedLanes::close(int lane)
{
    const std::lock_guard lock(m_mutex);
    Named* const to = find(lane);
    if (!to || (to->open == 0 && beganLate())) // it started before the window
        return;
    to->lane->close();
    to->open = std::max(0, to->open - 1);
}

void NamedLanes::fetchBegins(int lane)
{
    const std::lock_guard lock(m_mutex);
    if (Named* const to = find(lane))
        to->fetches.push_back({TraceClock::now(), TraceTime::max()});
}

void NamedLanes::collateBegins(int lane)
{
    const std::lock_guard lock(m_mutex);
    if (Named* const to = find(lane); to && !to->fetches.empty())
        to->fetches.back().collating = TraceClock::now();
}

void NamedLanes::fetchEnds(int lane)
{
    const std::lock_guard lock(m_mutex);
    Named* const to = find(lane);
    if (!to || to->fetches.empty()) // it started before the window
        return;
    const TraceTime now = TraceClock::now();
    const Named::Fetch fetch = to->fetches.back();
    to->fetches.pop_back();
    const auto put = [&](ActivityKind kind, std::string_view name, TraceTime begin, TraceTime end) {
        to->lane->complete(kind, to->lane->intern(name), begin, end, to->batch);
    };
    if (to->kind == TrackKind::LoaderWorker && to->fetched && to->fetches.empty())
        put(ActivityKind::LoaderWait, "wait", *to->fetched, fetch.began);
    // Python datasets read, decode and augment in one call, which cannot be divided from outside.
    put(ActivityKind::LoaderStage, "read", fetch.began, std::min(fetch.collating, now));
    if (fetch.collating < now)
        put(ActivityKind::LoaderStage, "collate", fetch.collating, now);
    to->fetched = now;
    ++to->batch;
}

void NamedLanes::complete(int lane, int kind, std::string_view name, TimeRange range, std::int64_t value)
{
    const std::lock_guard lock(m_mutex);
    if (Named* const to = find(lane))
        to->lane->complete(kindOf(kind), to->lane->intern(name), range.begin, range.end, value);
}

void NamedLanes::sample(int lane, std::string_view counter, std::string_view unit, double value, TraceTime time)
{
    const std::lock_guard lock(m_mutex);
    if (Named* const to = find(lane))
        to->lane->sample(to->recorder->addCounter(counter, unit), time, value);
}

NamedLanes& namedLanes()
{
    static NamedLanes* s_lanes = [] {
        auto* lanes = new NamedLanes; // never destroyed: outlives every thread
        pthread_atfork([] { namedLanes().lock(); }, [] { namedLanes().unlock(); }, [] { namedLanes().unlock(); });
        return lanes;
    }();
    return *s_lanes;
}

} // namespace profiler::capture::injection
