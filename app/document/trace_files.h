#pragma once

#include <QString>
#include <QStringList>
#include <filesystem>

namespace app {

/// Filters for an open dialog: all readable traces, then each format, then any file.
QString openTraceFilter();

/// A file format for exporting traces.
struct TraceFileKind {
    QString filter;    ///< "Perfetto (*.pftrace)"
    QString extension; ///< ".pftrace"
};
QList<TraceFileKind> writableTraceKinds();

/// True for a small JSON file that is not a trace and so can only be a training configuration. Reads the file: do not
/// call on the GUI thread.
bool looksLikeConfiguration(const std::filesystem::path& path);

/// Recently opened trace files, newest first; stored in the user's settings.
QStringList recentTraces();
void addRecentTrace(const QString& path);
void forgetRecentTraces();

} // namespace app
