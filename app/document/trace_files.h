#pragma once

#include "app/services/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Trace files: their formats for dialogs, the recently opened ones, the samples that come with the app, and loading
/// and saving in the background.
namespace app {

/// Filters for an open dialog: all readable traces, then each format, then any file.
QString openTraceFilter();

/// A file format for exporting traces.
struct TraceFileKind {
    QString filter;    ///< "Perfetto (*.pftrace)"
    QString extension; ///< ".pftrace"
};
QList<TraceFileKind> writableTraceKinds();

/// True for a small JSON file that is not a trace and so can only be a training configuration. Reads the file: do not
/// call on the GUI thread.
bool looksLikeConfiguration(const std::filesystem::path& path);

/// Time after which a preview of a long load is shown: a hidden setting of the user, otherwise `usually`.
std::chrono::milliseconds previewDelay(std::chrono::milliseconds usually);

/// Recently opened trace files and folders of jobs, newest first; stored in the user's settings.
QStringList recentTraces();
void addRecentTrace(const QString& path);
void forgetRecentTraces();

/// A sample trace that comes with the app.
struct Sample {
    QString id; ///< the file's stem; of a job, the name of its folder
    QString title;
    QString what; ///< what it shows, and how it was made
    bool isJob = false;
};

std::vector<Sample> allSamples();
/// The sample as a file in the user's application data, or a job's traces as a folder; copied there on first use.
profiler::Result<std::filesystem::path> sampleFile(const Sample& sample);
/// True for a file or folder created by sampleFile().
bool isSampleFile(const std::filesystem::path& file);

/// Opens a file in the background: a trace of any format, or a training configuration. A newer load supersedes a
/// running one.
class TraceLoader : public QObject {
    Q_OBJECT
public:
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

/// Writes a trace to a file in the background, in the format of its extension.
class TraceSaver : public QObject {
    Q_OBJECT
public:
    explicit TraceSaver(QObject* parent = nullptr) : QObject(parent), m_thread(this) {}
    ~TraceSaver() override;

    [[nodiscard]] bool isRunning() const { return m_running; }
    /// A newer export replaces a running one.
    /// @param metadata  see profiler::formats::WriteOptions
    void save(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& path,
              std::map<std::string, std::string> metadata);
    /// Removes the partial file; no signals are emitted after this call.
    void cancel();

signals:
    void progressed(double share);
    void saved(const std::filesystem::path& path);
    void failed(const std::filesystem::path& path, const profiler::Error& error);

private:
    bool m_running = false;
    Background m_thread;
};

} // namespace app
