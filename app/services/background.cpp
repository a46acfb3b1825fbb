#include "app/services/background.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

namespace app {

namespace {

profiler::Error errorOf(const std::exception& thrown)
{
    using profiler::Error;
    if (dynamic_cast<const std::bad_alloc*>(&thrown))
        return profiler::makeError<"work.no_memory", "not enough memory">(Error::Code::Unavailable, {},
                                                                          "close other programs, then try again");
    return profiler::makeError<"work.failed", "{why}">(Error::Code::Unavailable, {}, {}, {{"why", thrown.what()}});
}

} // namespace

Background::Background(QObject* owner)
    : m_owner(owner), m_alive(std::make_shared<char>()), m_current(std::make_shared<int>(0))
{
}

Background::~Background()
{
    ++*m_current;
    m_pending.reset();
    for (Job& job : m_jobs)
        job.thread.request_stop();
}

void Background::start(Work work, Failed failed)
{
    cancel();
    Wanted wanted{std::move(work), std::move(failed)};
    if (m_jobs.size() < kMostAtOnce)
        run(std::move(wanted));
    else
        m_pending = std::move(wanted);
}

void Background::run(Wanted wanted)
{
    auto ended = std::make_shared<std::atomic<bool>>(false);
    const Post post = makePost();
    // Not bound to the current work item: a superseded item makes room for the pending one.
    const auto makeRoom = [owner = m_owner, alive = std::weak_ptr<char>(m_alive), this] {
        QMetaObject::invokeMethod(
            owner,
            [alive, this] {
                if (!alive.expired())
                    startPending();
            },
            Qt::QueuedConnection);
    };
    try {
        std::jthread thread([work = std::move(wanted.work), failed = wanted.failed, post, ended,
                             makeRoom](std::stop_token stop) mutable {
            try {
                std::exchange(work, {})(stop, post); // release captured objects before the work counts as ended
            } catch (const std::exception& thrown) {
                post([failed, error = errorOf(thrown)] { failed(error); });
            }
            *ended = true;
            makeRoom();
        });
        m_jobs.push_back({std::move(ended), std::move(thread)});
    } catch (const std::system_error& refused) { // the system cannot create another thread
        post([failed = wanted.failed, error = errorOf(refused)] { failed(error); });
    }
}

void Background::startPending()
{
    std::erase_if(m_jobs, [](const Job& job) { return job.ended->load(); });
    if (!m_pending || m_jobs.size() >= kMostAtOnce)
        return;
    run(*std::exchange(m_pending, std::nullopt));
    if (std::exchange(m_stopPending, false) && !m_jobs.empty())
        m_jobs.back().thread.request_stop();
}

void Background::cancel()
{
    ++*m_current;
    m_pending.reset();
    m_stopPending = false;
    std::erase_if(m_jobs, [](const Job& job) { return job.ended->load(); });
    for (Job& job : m_jobs)
        job.thread.request_stop();
}

void Background::cancelAndWait()
{
    cancel();
    m_jobs.clear();
}

void Background::requestStop()
{
    m_stopPending = m_pending.has_value();
    for (Job& job : m_jobs)
        job.thread.request_stop();
}

std::size_t Background::running() const
{
    return static_cast<std::size_t>(
        std::count_if(m_jobs.begin(), m_jobs.end(), [](const Job& job) { return !job.ended->load(); }));
}

Background::Post Background::makePost() const
{
    return [owner = m_owner, current = m_current, mine = *m_current](std::function<void()> call) {
        const auto guarded = [current, mine, call = std::move(call)] {
            if (*current == mine)
                call();
        };
        QMetaObject::invokeMethod(owner, guarded, Qt::QueuedConnection);
    };
}

} // namespace app
