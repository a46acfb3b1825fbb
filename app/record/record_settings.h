#pragma once

#include <QString>
#include <QStringList>
#include <string>
#include <vector>

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

} // namespace app
