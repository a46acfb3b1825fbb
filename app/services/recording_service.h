#pragma once

#include "app/services/program_process.h"
#include "profiler/model/result.h"

#include <QObject>
#include <QString>
#include <QTemporaryDir>
#include <QTimer>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace app {

/// A recording request.
struct RecordRequest {
    std::vector<std::string> command;
    QString folder;                         ///< working directory of the command
    std::vector<std::string> environment{}; ///< NAME=VALUE, added to the app's own
    QString level = "standard";
    bool operators = false, python = true;
    int operatorsEvery = 0;  ///< distance between windows in training steps; 0: record all steps
    int operatorsWindow = 5; ///< steps per window
    double after = 0;        ///< seconds from the start of the command to the start of recording
    double seconds = 0;      ///< seconds to record; 0: until the command ends
};

/// The result of a recording.
struct RecordEnd {
    std::filesystem::path trace; ///< empty: there is none
    bool failed = false;         ///< no trace, or the command ended badly
    QString message;             ///< one sentence
    QString detail;              ///< details and hints, one per line; may be empty
};

/// The words of a command line, expanded like a shell does: quotes, variables, ~ and patterns. Rejects anything that
/// would run more than one command. NAME=VALUE before the command applies to that command only.
profiler::Result<std::vector<std::string>> commandWords(const QString& line);

class JobGuard;
class TraceDocument;

/// Records a program, and shows the recording in a document while it runs: runs `stepscope-cli record`, forwards its
/// output, asks it to stop. GUI thread.
class RecordingService : public QObject {
    Q_OBJECT
public:
    /// Both must outlive the service.
    RecordingService(JobGuard* jobs, TraceDocument* document);
    /// Ends a command that is still running.
    ~RecordingService() override;

    [[nodiscard]] bool isRunning() const { return m_process.isRunning(); }
    /// Error if stepscope-cli is missing or the trace cannot be created; ended() reports whether the command itself
    /// could be run.
    profiler::Result<void> start(const RecordRequest& request);
    /// Asks the command to end: first like Ctrl-C, then more forcefully with each call, and automatically after some
    /// seconds.
    void stop();

signals:
    void started();
    /// Output of the command.
    void output(const QString& text);
    void ended(const app::RecordEnd& end);

private:
    void finish(int status);
    void endWith(const RecordEnd& end);
    /// Removes the placeholder file if no trace was written.
    void removeEmptyTrace();
    [[nodiscard]] RecordEnd readReport(int status) const;

    JobGuard* m_jobs;
    TraceDocument* m_document;
    QString m_title; ///< of the recorded program
    ProgramProcess m_process;
    QTimer m_patience;
    std::unique_ptr<QTemporaryDir> m_folder; ///< of the report
    std::filesystem::path m_trace;
    std::size_t m_asked = 0; ///< number of stop requests
};

} // namespace app
