#pragma once

#include "app/session/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <filesystem>
#include <memory>

namespace app {

/// Opens a whole trace file of any format in the background. A newer load replaces one that is under way.
class TraceLoader : public QObject {
    Q_OBJECT
public:
    /// Setting: how many ms a reading may take before a part of the file is shown; 250 without it.
    static constexpr const char* kPreviewAfter = "loading/previewAfterMs";

    explicit TraceLoader(QObject* parent = nullptr) : QObject(parent), m_thread(this) {}
    ~TraceLoader() override;

    void load(const std::filesystem::path& path);
    [[nodiscard]] bool isRunning() const { return m_running; }
    /// No signal comes from this load any more.
    void cancel();

signals:
    void progressed(double share);
    /// What was read so far; slices have other ids in what comes later.
    void previewed(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    void loaded(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    void failed(const std::filesystem::path& path, const profiler::Error& error);

private:
    bool m_running = false;
    Background m_thread;
};

} // namespace app
