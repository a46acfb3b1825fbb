#pragma once

#include "app/session/record_controller.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <QProcess>
#include <QString>
#include <QTimer>
#include <filesystem>
#include <string>
#include <vector>

namespace app {

/// An option of a command line.
struct CommandOption {
    QString name;  ///< "--workers"
    QString takes; ///< what follows it: "N", "0"; empty: nothing does
    QString help;  ///< one line; may be empty
    friend bool operator==(const CommandOption&, const CommandOption&) = default;
};

/// Options that a help text of Python's argparse lists; none where the text is not one.
std::vector<CommandOption> optionsOfHelp(const QString& text);
/// Options that a recorded program declared.
std::vector<CommandOption> optionsOfTrace(const profiler::Trace& trace);

/// The options of a script as they were seen last; kept in the user's settings.
std::vector<CommandOption> rememberedOptions(const std::filesystem::path& script);
void rememberOptions(const std::filesystem::path& script, const std::vector<CommandOption>& options);

/// Whether the script parses its command line with argparse, so that --help ends it after a list of its options. Other
/// scripts might train instead.
bool parsesWithArgparse(const std::filesystem::path& script);

/// Runs a command with --help. The user has to have allowed the program. GUI thread.
class HelpRunner : public QObject {
    Q_OBJECT
public:
    explicit HelpRunner(QObject* parent = nullptr);
    ~HelpRunner() override;

    void run(const RecordRequest& request);
    [[nodiscard]] bool isRunning() const { return m_process.state() != QProcess::NotRunning; }

signals:
    /// Empty: the program listed none, or did not end in time.
    void ended(const std::vector<app::CommandOption>& options);

private:
    QProcess m_process;
    QTimer m_limit;
};

} // namespace app
