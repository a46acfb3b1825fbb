#pragma once

#include <QString>
#include <QStringList>
#include <string>
#include <vector>

namespace app {

/// What was chosen for the last recording.
struct RecordSettings {
    QString folder;      ///< empty: the user's home
    QString environment; ///< NAME=VALUE, one per line
    QString level = "standard";
    bool part = false; ///< not the whole run is recorded
    double after = 0;  ///< seconds
    double seconds = 10;
    bool python = true, operators = false;
    bool windows = false; ///< operators of some steps only
    int every = 1000;     ///< steps from window to window
    int window = 5;       ///< steps of one
};

/// From and to the user's settings.
RecordSettings recordSettings();
void keepRecordSettings(const RecordSettings& settings);

/// The variables that a command was last recorded with, NAME=VALUE: a trace does not have them, since they may be
/// secrets. @param command  as the trace has it in record.command
std::vector<std::string> recordedEnvironment(const std::string& command, const std::string& folder);
void rememberEnvironment(const std::string& command, const std::string& folder,
                         const std::vector<std::string>& environment);

/// Commands that were recorded lately, newest first; kept in the user's settings.
QStringList recordedCommands();
void rememberCommand(const QString& line);
void forgetCommands();

} // namespace app
