#pragma once

#include "app/services/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <QTimer>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

/// Live traces, read while a training or a recorded program writes them.
namespace app {

/// Reads the trace of a running training about ten times per second on a separate thread.
class TraceFollower : public QObject {
    Q_OBJECT
public:
    explicit TraceFollower(QObject* parent = nullptr);
    ~TraceFollower() override;

    /// The file need not exist yet.
    void follow(const std::filesystem::path& path);
    /// The writer has exited: reads the rest, marks a trace without an end as truncated, and emits finished().
    void finish();
    /// No signals about the file are emitted after this call.
    void leave();

signals:
    void snapshot(std::shared_ptr<const profiler::Trace> trace);
    /// The final signal for the file.
    void finished(std::shared_ptr<const profiler::Trace> trace);
    void failed(const profiler::Error& error);

private:
    struct Shared;
    std::shared_ptr<Shared> m_shared;
    Background m_thread;
};

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
