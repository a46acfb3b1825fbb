#include "profiler/capture/thread_buffer_pool.h"

#include <algorithm>
#include <new>

namespace profiler::capture {

namespace {

struct LastUsed {
    std::uint64_t recorder = 0;
    ThreadBuffer* buffer = nullptr;
};
// Trivially destructible, so that they can be read while the thread's other objects are being destroyed.
thread_local constinit LastUsed t_last;
thread_local constinit bool t_ending = false;

struct BuffersOfThread {
    struct Entry {
        std::uint64_t recorder;
        ThreadBuffer* buffer;
        std::weak_ptr<ReleasedBuffers> released;
        bool isMain; ///< returned by bufferOfThisThread()
    };
    std::vector<Entry> entries;

    ~BuffersOfThread()
    {
        t_ending = true;
        t_last = {};
        for (const Entry& entry : entries)
            if (const auto released = entry.released.lock())
                released->release(entry.buffer);
    }
};
thread_local BuffersOfThread t_buffers;

bool remember(BuffersOfThread::Entry entry)
{
    if (t_ending)
        return false;
    // Drop entries of destroyed recorders, so that they do not accumulate in a long-lived thread.
    std::erase_if(t_buffers.entries, [](const BuffersOfThread::Entry& known) { return known.released.expired(); });
    t_buffers.entries.push_back(std::move(entry));
    return true;
}

} // namespace

void ReleasedBuffers::release(ThreadBuffer* buffer)
{
    const std::lock_guard lock(m_mutex);
    try {
        m_buffers.push_back(buffer);
    } catch (const std::bad_alloc&) {
        // The buffer is never reused. The end of a thread must not end the program.
    }
}

bool ReleasedBuffers::take(const ThreadBuffer* buffer)
{
    const std::lock_guard lock(m_mutex);
    return std::erase(m_buffers, buffer) != 0;
}

std::vector<ThreadBuffer*> ReleasedBuffers::list() const
{
    const std::lock_guard lock(m_mutex);
    return m_buffers;
}

ThreadBuffer* bufferOfThisThread(std::uint64_t recorder)
{
    if (t_last.recorder == recorder)
        return t_last.buffer;
    if (t_ending)
        return nullptr;
    for (const BuffersOfThread::Entry& entry : t_buffers.entries)
        if (entry.recorder == recorder && entry.isMain) {
            t_last = {recorder, entry.buffer};
            return entry.buffer;
        }
    return nullptr;
}

bool setBufferOfThisThread(std::uint64_t recorder, ThreadBuffer* buffer, std::weak_ptr<ReleasedBuffers> released)
{
    if (!remember({recorder, buffer, std::move(released), true}))
        return false;
    t_last = {recorder, buffer};
    return true;
}

bool keepBufferForThisThread(std::uint64_t recorder, ThreadBuffer* buffer, std::weak_ptr<ReleasedBuffers> released)
{
    return remember({recorder, buffer, std::move(released), false});
}

void forgetBuffersOfThisThread()
{
    t_last = {};
    if (!t_ending)
        t_buffers.entries.clear();
}

} // namespace profiler::capture
