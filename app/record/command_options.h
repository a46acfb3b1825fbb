#pragma once

#include "app/services/program_process.h"
#include "app/services/recording_service.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <QString>
#include <QTimer>
#include <filesystem>
#include <string>
#include <vector>

namespace app {

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
