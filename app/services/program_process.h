#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringDecoder>
#include <QStringList>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Other programs that the app starts: child processes whose output it reads, and the user's text editor.
namespace app {

/// A program to start.
struct ProgramStart {
    QString program;
    QStringList arguments;
    QString folder;                         ///< working directory; empty: the app's own
    std::vector<std::string> environment{}; ///< NAME=VALUE, added to the app's own
    bool errorsInOutput = true;             ///< output() has standard error too; otherwise it is dropped
};

/// A child process of the app: the only place where the app starts programs other than trainers, which
/// advisor/runner/child_process.h starts. It gets no input. If the app crashes, the program receives SIGTERM. GUI
/// thread.
class ProgramProcess : public QObject {
    Q_OBJECT
public:
    ProgramProcess();
    /// Kills a program that is still running; see endWithin().
    ~ProgramProcess() override;

    /// started() or failedToStart() follows. Call only while no program is running.
    void start(const ProgramStart& what);
    [[nodiscard]] bool isRunning() const { return m_process.state() != QProcess::NotRunning; }
    [[nodiscard]] qint64 pid() const { return m_process.processId(); }
    void send(int signal);
    void kill() { m_process.kill(); }
    /// Asks the program to end with SIGTERM, kills it after `patience`, and waits until it is gone. Nothing is
    /// emitted any more, and nothing can be started.
    void endWithin(std::chrono::milliseconds patience);

signals:
    void started();
    void failedToStart(const QString& why);
    void output(const QString& text);
    /// The program has ended, and all of its output has been emitted.
    /// @param status  its exit status; of no use if a signal killed it
    void ended(int status);

private:
    void takeOutput();

    QProcess m_process;
    QStringDecoder m_decoder; ///< a character may arrive in two parts
};

/// The command that opens `file` at `line`: the program and its arguments. Tried in order: the setting "editor/command"
/// (a command line with {file} and {line} placeholders), the environment variable VISUAL, and the first known graphical
/// editor on PATH. Empty if there is none.
std::optional<QStringList> editorCommand(const QString& file, int line);

/// Starts that command without waiting for it. The desktop's "open" is never used because it would execute some file
/// types, and the path may come from somebody else's trace.
/// @return empty, or why the editor could not be started and what to do
QString openInEditor(const QString& file, int line);

/// A source file that a trace names, on this machine: an absolute path, or one relative to an entry of Python's search
/// path, as PyTorch's profiler shortens it. A relative one is looked for in the folder of the trace, in the folders
/// above it, and in the current folder.
/// @param trace  file of the trace; empty: none
/// @return an absolute path; empty if there is no such file
QString findSourceFile(const QString& file, const std::filesystem::path& trace);
/// openInEditor() for such a file.
QString openSourceInEditor(const QString& file, int line, const std::filesystem::path& trace);

} // namespace app
