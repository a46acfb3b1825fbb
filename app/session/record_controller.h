#pragma once

#include "profiler/model/result.h"

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringDecoder>
#include <QTemporaryDir>
#include <QTimer>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace app {

/// What is recorded, of what.
struct RecordRequest {
    std::vector<std::string> command;
    QString folder;                         ///< that the command runs in
    std::vector<std::string> environment{}; ///< NAME=VALUE, added to the app's own
    QString level = "standard";
    bool operators = false, python = true;
    int operatorsEvery = 0;  ///< in a window of every so many training steps; 0: in all of them
    int operatorsWindow = 5; ///< steps of that window
    double after = 0;        ///< seconds from the command's start until recording begins
    double seconds = 0;      ///< that are recorded; 0: to the command's end
};

/// What came of it.
struct RecordEnd {
    std::filesystem::path trace; ///< empty: there is none
    bool failed = false;         ///< no trace, or the command ended badly
    QString message;             ///< one sentence
    QString detail;              ///< where, how to mend it, what is missing; a line each; may be empty
};

/// The words of a command line as a shell would have them: quotes, variables, ~ and patterns; what would run more than
/// one command is refused. NAME=VALUE before the command is set for it alone.
profiler::Result<std::vector<std::string>> commandWords(const QString& line);

/// A program that is recorded: runs `stepscope-cli record`, passes its output on, asks it to stop. GUI thread.
class RecordController : public QObject {
    Q_OBJECT
public:
    explicit RecordController(QObject* parent = nullptr);
    /// A command that still runs is ended.
    ~RecordController() override;

    /// The trace that is made, and the process that makes it; while it runs.
    [[nodiscard]] const std::filesystem::path& trace() const { return m_trace; }
    [[nodiscard]] qint64 processId() const { return m_process.processId(); }
    [[nodiscard]] bool isRunning() const { return m_process.state() != QProcess::NotRunning; }
    /// Error when there is no stepscope-cli, or no place for the trace; whether the command itself can be run is told
    /// by ended().
    profiler::Result<void> start(const RecordRequest& request);
    /// Asks the command to end: like Ctrl-C, then more firmly each time, and by itself after some seconds.
    void stop();

signals:
    void started();
    /// What the command has written to its standard streams.
    void output(const QString& text);
    void ended(const app::RecordEnd& end);

private:
    void finish();
    /// The file that kept the trace's name, where no trace came.
    void removeEmptyTrace();
    [[nodiscard]] RecordEnd readReport() const;

    QProcess m_process;
    QStringDecoder m_decoder; ///< of what the command writes; a letter may come in two parts
    QTimer m_patience;
    std::unique_ptr<QTemporaryDir> m_folder; ///< of the report
    std::filesystem::path m_trace;
    std::size_t m_asked = 0; ///< how often it was asked to stop
};

} // namespace app
