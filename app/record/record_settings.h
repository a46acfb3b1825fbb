#pragma once

#include "app/services/program_process.h"
#include "app/services/recording_service.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <filesystem>
#include <string>
#include <vector>

/// What is known about programs to record: the settings of the last recording, the recent commands with their
/// environment, and the options of a script.
namespace app {

/// The settings of the last recording.
struct RecordSettings {
    QString folder;      ///< empty: home folder
    QString environment; ///< NAME=VALUE, one per line
    QString level = "standard";
    bool part = false; ///< record only part of the run
    double after = 0;  ///< seconds
    double seconds = 10;
    bool python = true, operators = false;
    bool windows = false; ///< record operators in some steps only
    int every = 1000;     ///< steps from one window to the next
    int window = 5;       ///< steps per window
};

/// Reads and writes the user's settings.
RecordSettings recordSettings();
void keepRecordSettings(const RecordSettings& settings);

/// The environment variables of the command's last recording, NAME=VALUE. They are not in the trace because they may be
/// secrets.
/// @param command  record.command of the trace
std::vector<std::string> recordedEnvironment(const std::string& command, const std::string& folder);
void rememberEnvironment(const std::string& command, const std::string& folder,
                         const std::vector<std::string>& environment);

/// Recently recorded commands, newest first; stored in the user's settings.
QStringList recordedCommands();
void rememberCommand(const QString& line);
void forgetCommands();

/// A command-line option.
struct CommandOption {
    QString name;  ///< "--workers"
    QString takes; ///< its value: "N", "0"; empty: it takes no value
    QString help;  ///< one line; may be empty
    friend bool operator==(const CommandOption&, const CommandOption&) = default;
};

/// Options listed in a help text of Python's argparse; empty for any other text.
std::vector<CommandOption> optionsOfHelp(const QString& text);
/// Options declared by a recorded program.
std::vector<CommandOption> optionsOfTrace(const profiler::Trace& trace);

/// The last known options of a script, stored in the user's settings.
std::vector<CommandOption> rememberedOptions(const std::filesystem::path& script);
void rememberOptions(const std::filesystem::path& script, const std::vector<CommandOption>& options);

/// Whether the script parses its command line with argparse, so that --help prints a list of options and exits. Other
/// scripts might start training instead.
bool parsesWithArgparse(const std::filesystem::path& script);

/// Runs a command with --help. The user must have allowed the program. GUI thread.
class HelpRunner : public QObject {
    Q_OBJECT
public:
    explicit HelpRunner(QObject* parent = nullptr);

    void run(const RecordRequest& request);
    [[nodiscard]] bool isRunning() const { return m_process.isRunning(); }

signals:
    /// Empty: the program listed none or did not exit in time.
    void ended(const std::vector<app::CommandOption>& options);

private:
    ProgramProcess m_process;
    QString m_output; ///< so far; not much more than a list of options can have
    QTimer m_limit;
};

} // namespace app
