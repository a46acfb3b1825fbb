#pragma once

#include "app/services/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <QString>
#include <filesystem>
#include <memory>

namespace app {

/// Opens a file in the background: a trace of any format, or a training configuration. A newer load supersedes a
/// running one.
class TraceLoader : public QObject {
    Q_OBJECT
public:
    /// Setting: time in ms after which a preview of the file is shown; default 250.
    static constexpr const char* kPreviewAfter = "loading/previewAfterMs";

    explicit TraceLoader(QObject* parent = nullptr) : QObject(parent), m_thread(this) {}

    /// The accepted kinds of files.
    enum class Expect { Trace, TraceOrConfiguration };
    void load(const std::filesystem::path& path, Expect expect = Expect::Trace);
    [[nodiscard]] bool isRunning() const { return m_running; }
    /// After this call the load emits no more signals.
    void cancel();

signals:
    void progressed(double share);
    /// A preview of the part read so far; slice ids change with later signals.
    void previewed(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    void loaded(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    /// The file is a configuration.
    void configurationRead(const std::filesystem::path& path, const config::TrainingConfig& configuration);
    /// The file is an invalid configuration.
    void configurationRefused(const std::filesystem::path& path, const QString& why);
    void failed(const std::filesystem::path& path, const profiler::Error& error);

private:
    bool m_running = false;
    Background m_thread;
};

} // namespace app
