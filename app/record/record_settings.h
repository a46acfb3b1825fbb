#pragma once

#include <QString>
#include <QStringList>

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

/// Commands that were recorded lately, newest first; kept in the user's settings.
QStringList recordedCommands();
void rememberCommand(const QString& line);
void forgetCommands();

} // namespace app
