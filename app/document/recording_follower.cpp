#include "app/document/recording_follower.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>

namespace app {

namespace {

constexpr int kLookMs = 500; ///< a part without steps may belong to a helper process

} // namespace

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
