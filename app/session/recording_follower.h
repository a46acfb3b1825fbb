#pragma once

#include "app/session/trace_follower.h"

#include <QObject>
#include <QTimer>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace app {

/// Reads a recording while its program runs. Each process of the program writes a part of its own, which become one
/// trace at the end; the one that is followed is the one that trains. GUI thread.
class RecordingFollower : public QObject {
    Q_OBJECT
public:
    explicit RecordingFollower(QObject* parent = nullptr);

    /// @param trace     that the recording makes; its parts are beside it
    /// @param recorder  process id of the recorder, whose own part has only samples of the machine
    void follow(const std::filesystem::path& trace, std::int64_t recorder);
    /// No signal comes after this call.
    void leave();

signals:
    /// The part so far.
    void snapshot(std::shared_ptr<const profiler::Trace> trace);

private:
    void choose();

    std::filesystem::path m_trace, m_part; ///< m_part: what is followed
    std::int64_t m_recorder = 0;
    bool m_hasSteps = false; ///< the part is that of the training: it stays
    QTimer m_look;
    TraceFollower m_follower;
};

} // namespace app
