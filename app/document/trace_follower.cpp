#include "app/document/trace_follower.h"

#include "profiler/formats/container/trace_reader.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace app {

using namespace std::chrono_literals;
using profiler::container::TailingReader;

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

constexpr int kLookMs = 500; ///< a part without steps may belong to a helper process

} // namespace

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
            // The end is reported only when the process has exited, so that no one queries a trainer that is still
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

RecordingFollower::RecordingFollower(QObject* parent) : QObject(parent)
{
    m_look.setInterval(kLookMs);
    connect(&m_look, &QTimer::timeout, this, &RecordingFollower::choose);
    connect(&m_follower, &TraceFollower::snapshot, this, [this](const std::shared_ptr<const profiler::Trace>& trace) {
        m_hasSteps = m_hasSteps || !trace->ofKind(profiler::ActivityKind::Step).empty();
        if (m_hasSteps)
            m_look.stop();
        if (trace->sliceCount() > 0)
            emit snapshot(trace);
    });
    // An unreadable part is not followed; the whole trace is opened at the end.
    connect(&m_follower, &TraceFollower::failed, this, [this] { m_part.clear(); });
}

void RecordingFollower::follow(const std::filesystem::path& trace, std::int64_t recorder)
{
    m_trace = trace;
    m_recorder = recorder;
    m_part.clear();
    m_hasSteps = false;
    m_look.start();
}

void RecordingFollower::leave()
{
    m_look.stop();
    m_follower.leave();
    m_part.clear();
}

/// The largest part: the training process records most.
void RecordingFollower::choose()
{
    const QFileInfo whole(QString::fromStdString(m_trace.string()));
    const QRegularExpression isPart('^' + QRegularExpression::escape(whole.fileName()) + "\\.(\\d+)(\\.\\d+)?$");
    QFileInfo largest;
    for (const QFileInfo& file : QDir(whole.path()).entryInfoList(QDir::Files)) {
        const auto match = isPart.match(file.fileName());
        if (match.hasMatch() && match.captured(1).toLongLong() != m_recorder && file.size() > largest.size())
            largest = file;
    }
    const std::filesystem::path part = largest.filePath().toStdString();
    if (largest.size() == 0 || part == m_part)
        return;
    m_part = part;
    m_follower.follow(part);
}

} // namespace app
