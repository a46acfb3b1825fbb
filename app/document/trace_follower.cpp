#include "app/document/trace_follower.h"

#include "profiler/formats/container/tailing_reader.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace app {

using namespace std::chrono_literals;
using profiler::container::TailingReader;

struct TraceFollower::Shared {
    std::mutex mutex; ///< guards `writerGone`
    std::condition_variable changed;
    bool writerGone = false;
    std::atomic<bool> unseen = false; ///< a snapshot is waiting for the GUI thread, so do not make another

    /// Sleeps until the next check of the file; true if the writer has exited.
    bool waitForTurn(const std::stop_token& stop)
    {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, 100ms, [&] { return writerGone || stop.stop_requested(); });
        return writerGone;
    }
};

namespace {

/// Opens the file when the trainer has created it.
profiler::Result<std::unique_ptr<TailingReader>>
openWhenThere(const std::filesystem::path& path, const std::function<bool()>& waitForTurn, const std::stop_token& stop)
{
    for (;;) {
        const bool last = waitForTurn();
        auto reader = TailingReader::open(path);
        if (reader || last || stop.stop_requested())
            return reader;
    }
}

} // namespace

TraceFollower::TraceFollower(QObject* parent) : QObject(parent), m_shared(std::make_shared<Shared>()), m_thread(this) {}

TraceFollower::~TraceFollower()
{
    m_thread.cancel();
}

void TraceFollower::follow(const std::filesystem::path& path)
{
    m_shared = std::make_shared<Shared>();
    m_thread.start(
        [this, path, shared = m_shared](const std::stop_token& stop, const Background::Post& post) {
            const std::stop_callback wake(stop, [&] { shared->changed.notify_all(); });
            auto reader = openWhenThere(
                path, [&] { return shared->waitForTurn(stop); }, stop);
            if (!reader) {
                post([this, error = reader.error()] { emit failed(error); });
                return;
            }
            bool isNew = true;
            for (bool gone = false; !stop.stop_requested();) {
                const auto polled = (*reader)->poll();
                isNew = isNew || (polled && *polled);
                if (gone || (*reader)->ended() || !polled)
                    break;
                if (isNew && !shared->unseen.exchange(true)) {
                    isNew = false;
                    post([this, shared, trace = (*reader)->snapshot()] {
                        shared->unseen = false;
                        emit snapshot(trace);
                    });
                }
                gone = shared->waitForTurn(stop);
            }
            // The end is reported only when the process has exited, so that nobody queries a trainer that is still
            // running.
            while (!stop.stop_requested() && !shared->waitForTurn(stop)) {
            }
            if (stop.stop_requested())
                return;
            if (!(*reader)->ended())
                (*reader)->closeAsCut();
            post([this, trace = (*reader)->snapshot()] { emit finished(trace); });
        },
        [this](const profiler::Error& error) { emit failed(error); });
}

void TraceFollower::leave()
{
    m_thread.cancel();
}

void TraceFollower::finish()
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->writerGone = true;
    }
    m_shared->changed.notify_all();
}

} // namespace app
