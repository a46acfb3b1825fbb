#pragma once

#include <QString>
#include <QStringList>
#include <filesystem>

namespace app {

/// Filters for a dialog that opens traces: all that can be read first, then each format, then any file.
QString openTraceFilter();

/// A kind of file that traces can be written as.
struct TraceFileKind {
    QString filter;    ///< "Perfetto (*.pftrace)"
    QString extension; ///< ".pftrace"
};
QList<TraceFileKind> writableTraceKinds();

/// A small JSON file that holds no trace: what remains is a training configuration. Reads the file: not for the GUI
/// thread.
bool looksLikeConfiguration(const std::filesystem::path& path);

/// Traces from elsewhere that were opened lately, newest first; kept in the user's settings.
QStringList recentTraces();
void addRecentTrace(const QString& path);
void forgetRecentTraces();

} // namespace app
