#pragma once

#include "app/session/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <QString>
#include <filesystem>
#include <memory>

namespace app {

/// Opens a file in the background: a trace of any format, or a training configuration. A newer load supersedes one that
/// is under way.
class TraceLoader : public QObject {
    Q_OBJECT
public:
    /// Setting: how many ms a reading may take before a part of the file is shown; 250 without it.
    static constexpr const char* kPreviewAfter = "loading/previewAfterMs";

    explicit TraceLoader(QObject* parent = nullptr) : QObject(parent), m_thread(this) {}

    /// What a file may be taken for.
    enum class Expect { Trace, TraceOrConfiguration };
    void load(const std::filesystem::path& path, Expect expect = Expect::Trace);
    [[nodiscard]] bool isRunning() const { return m_running; }
    /// After this call the load emits no more signals.
    void cancel();

signals:
    void progressed(double share);
    /// What was read so far; slices have other ids in what comes later.
    void previewed(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    void loaded(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    /// The file holds no trace but a configuration …
    void configurationRead(const std::filesystem::path& path, const config::TrainingConfig& configuration);
    /// … or something that was meant to be one.
    void configurationRefused(const std::filesystem::path& path, const QString& why);
    void failed(const std::filesystem::path& path, const profiler::Error& error);

private:
    bool m_running = false;
    Background m_thread;
};

} // namespace app
