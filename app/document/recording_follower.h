#pragma once

#include "app/document/trace_follower.h"

#include <QObject>
#include <QTimer>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace app {

/// Reads a recording while its program runs. Each process of the program writes its own part, and the parts are merged
/// at the end. This class follows the part of the training process. GUI thread.
class RecordingFollower : public QObject {
    Q_OBJECT
public:
    explicit RecordingFollower(QObject* parent = nullptr);

    /// @param trace     file of the recording; its parts are next to it
    /// @param recorder  process id of the recorder, whose part contains only system samples
    void follow(const std::filesystem::path& trace, std::int64_t recorder);
    /// No signal is emitted after this call.
    void leave();

signals:
    /// The current content of the part.
    void snapshot(std::shared_ptr<const profiler::Trace> trace);

private:
    void choose();

    std::filesystem::path m_trace, m_part; ///< m_part: the followed part
    std::int64_t m_recorder = 0;
    bool m_hasSteps = false; ///< the part belongs to the training process, so it is not changed
    QTimer m_look;
    TraceFollower m_follower;
};

} // namespace app
