#pragma once

#include "app/services/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <atomic>
#include <filesystem>
#include <memory>

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

} // namespace app
