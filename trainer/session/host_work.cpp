#include "trainer/session/host_work.h"

#include <utility>

namespace trainer {

HostWork::HostWork(bool apart, profiler::capture::Recorder* recorder, std::string name, std::size_t mostOutstanding)
    : m_recorder(recorder), m_name(std::move(name)), m_mostOutstanding(mostOutstanding)
{
    if (apart)
        m_thread = std::thread([this] { run(); });
}

HostWork::~HostWork()
{
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_changed.notify_all();
    if (m_thread.joinable())
        m_thread.join();
}

void HostWork::give(std::string_view what, std::function<void()> work)
{
    if (!m_thread.joinable())
        return doOne(work);
    const std::uint32_t name = m_recorder ? m_recorder->intern(what) : 0;
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_pieces.size() < m_mostOutstanding; });
    m_pieces.push_back({name, std::move(work)});
    lock.unlock();
    m_changed.notify_all();
}

void HostWork::finish()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_pieces.empty() && !m_busy; });
}

std::exception_ptr HostWork::takeError()
{
    const std::lock_guard lock(m_mutex);
    if (m_errors.empty())
        return nullptr;
    std::exception_ptr error = std::move(m_errors.front());
    m_errors.pop_front();
    return error;
}

void HostWork::run()
{
    auto* buffer = m_recorder ? &m_recorder->nameThisThread(m_name, profiler::TrackKind::Thread) : nullptr;
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_changed.wait(lock, [this] { return m_ending || !m_pieces.empty(); });
        if (m_pieces.empty())
            return;
        const Piece piece = std::move(m_pieces.front());
        m_pieces.pop_front();
        m_busy = true;
        lock.unlock();
        if (buffer)
            buffer->open(profiler::ActivityKind::Phase, piece.name, 0);
        doOne(piece.work);
        if (buffer)
            buffer->close(0);
        lock.lock();
        m_busy = false;
        m_changed.notify_all();
    }
}

void HostWork::doOne(const std::function<void()>& work)
{
    try {
        work();
    } catch (const std::exception&) {
        const std::lock_guard lock(m_mutex);
        m_errors.push_back(std::current_exception());
    }
}

} // namespace trainer
