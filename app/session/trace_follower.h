#pragma once

#include "app/session/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <atomic>
#include <filesystem>
#include <memory>

namespace app {

/// Reads the trace of a running training about ten times a second, on a thread of its own.
class TraceFollower : public QObject {
    Q_OBJECT
public:
    explicit TraceFollower(QObject* parent = nullptr);
    ~TraceFollower() override;

    /// The file need not exist yet.
    void follow(const std::filesystem::path& path);
    /// The writer is gone: reads the rest, closes a trace without an end as cut, and emits finished().
    void finish();
    /// Nothing is told of the file any more.
    void leave();

signals:
    void snapshot(std::shared_ptr<const profiler::Trace> trace);
    /// The last word on the file.
    void finished(std::shared_ptr<const profiler::Trace> trace);
    void failed(const profiler::Error& error);

private:
    struct Shared;
    std::shared_ptr<Shared> m_shared;
    Background m_thread;
};

} // namespace app
