#include "profiler/capture/injection/hook_recording.h"

#include "profiler/capture/injection/process_recording.h"
#include "profiler/capture/thread_buffer_impl.h"
#include "profiler/os/process.h"

#include <algorithm>

namespace profiler::capture::injection {

namespace {

ActivityKind kindOf(int kind)
{
    return kind >= 0 && kind < kActivityKinds ? static_cast<ActivityKind>(kind) : ActivityKind::Other;
}

} // namespace

int NamedBuffers::buffer(std::string_view name, int kind)
{
    const std::lock_guard lock(m_mutex);
    const bool known =
        kind == static_cast<int>(TrackKind::MainThread) || kind == static_cast<int>(TrackKind::LoaderWorker);
    const TrackKind wanted = known ? static_cast<TrackKind>(kind) : TrackKind::Thread;
    const auto at = std::find_if(m_buffers.begin(), m_buffers.end(),
                                 [&](const Named& buffer) { return buffer.name == name && buffer.kind == wanted; });
    if (at != m_buffers.end())
        return static_cast<int>(at - m_buffers.begin());
    m_buffers.push_back({std::string(name), wanted});
    return static_cast<int>(m_buffers.size()) - 1;
}

NamedBuffers::Named* NamedBuffers::find(int buffer)
{
    if (buffer < 0 || buffer >= std::ssize(m_buffers))
        return nullptr;
    Recorder* const to = recorder();
    if (!to)
        return nullptr;
    Named& named = m_buffers[static_cast<std::size_t>(buffer)];
    const std::uint64_t generation = g_generation.load();
    if (named.generation != generation || named.recorder != to) {
        named.recorder = to;
        named.buffer = &to->addBuffer(named.name, named.kind);
        named.buffer->nestByIntervals();
        named.generation = generation;
        named.open = 0;
        named.fetches.clear();
        named.fetched.reset();
        named.batch = 0;
    }
    return &named;
}

void NamedBuffers::open(int buffer, int kind, std::string_view name, std::int64_t value)
{
    const std::lock_guard lock(m_mutex);
    if (Named* const to = find(buffer)) {
        to->buffer->open(kindOf(kind), to->buffer->intern(name), value);
        ++to->open;
    }
}

void NamedBuffers::close(int buffer)
{
    const std::lock_guard lock(m_mutex);
    Named* const to = find(buffer);
    if (!to || (to->open == 0 && beganLate())) // it started before the window
        return;
    to->buffer->close();
    to->open = std::max(0, to->open - 1);
}

void NamedBuffers::fetchBegins(int buffer)
{
    const std::lock_guard lock(m_mutex);
    if (Named* const to = find(buffer))
        to->fetches.push_back({TraceClock::now(), TraceTime::max()});
}

void NamedBuffers::collateBegins(int buffer)
{
    const std::lock_guard lock(m_mutex);
    if (Named* const to = find(buffer); to && !to->fetches.empty())
        to->fetches.back().collating = TraceClock::now();
}

void NamedBuffers::fetchEnds(int buffer)
{
    const std::lock_guard lock(m_mutex);
    Named* const to = find(buffer);
    if (!to || to->fetches.empty()) // it started before the window
        return;
    const TraceTime now = TraceClock::now();
    const Named::Fetch fetch = to->fetches.back();
    to->fetches.pop_back();
    const auto put = [&](ActivityKind kind, std::string_view name, TraceTime begin, TraceTime end) {
        to->buffer->complete(kind, to->buffer->intern(name), begin, end, to->batch);
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

void NamedBuffers::complete(int buffer, int kind, std::string_view name, TimeRange range, std::int64_t value)
{
    const std::lock_guard lock(m_mutex);
    if (Named* const to = find(buffer))
        to->buffer->complete(kindOf(kind), to->buffer->intern(name), range.begin, range.end, value);
}

void NamedBuffers::sample(int buffer, std::string_view counter, std::string_view unit, double value, TraceTime time)
{
    const std::lock_guard lock(m_mutex);
    if (Named* const to = find(buffer))
        to->buffer->sample(to->recorder->addCounter(counter, unit), time, value);
}

NamedBuffers& namedBuffers()
{
    static NamedBuffers* s_buffers = [] {
        auto* buffers = new NamedBuffers; // never destroyed: outlives every thread
        os::callAtFork([] { namedBuffers().lock(); }, [] { namedBuffers().unlock(); }, [] { namedBuffers().unlock(); });
        return buffers;
    }();
    return *s_buffers;
}

void beginOp(const OpBegin& op)
{
    ThreadState& thread = thisThread();
    if (!thread.buffer)
        return;
    ThreadBuffer& buffer = *thread.buffer;
    const ActivityKind kind = op.annotation ? ActivityKind::UserAnnotation : ActivityKind::CpuOp;
    const std::uint8_t flags = op.backward ? slice_flag::kBackward : std::uint8_t{0};
    const std::uint32_t name = buffer.internAt(op.name ? op.name : "");
    if (op.async) {
        if (Recorder* const to = recorder())
            to->beginCrossThread(op.owner, kind, name, op.sequence);
        return;
    }
    const std::uint32_t detail = op.shapes ? buffer.intern(op.shapes) : 0;
    if (op.types || !buffer.inlined().tryPush(timeStampCounter(), kind, name, op.sequence, detail, flags, op.owner))
        buffer.push(kind, name, op.sequence, flags, detail, op.types ? buffer.intern(op.types) : 0, op.owner);
}

void endOp(const void* owner)
{
    const std::uint64_t counter = timeStampCounter();
    ThreadState& thread = thisThread();
    if (!thread.buffer || thread.buffer->inlined().tryPop(counter, owner) || thread.buffer->popOwned(owner))
        return;
    // It started on another thread, or before the recording window.
    if (Recorder* const to = recorder())
        to->endCrossThread(owner);
}

} // namespace profiler::capture::injection
