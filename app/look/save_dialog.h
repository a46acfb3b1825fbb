#pragma once

#include <QList>
#include <QString>

class QWidget;

namespace app {

/// A file format to save as.
struct FileKind {
    QString filter;    ///< file dialog filter: "Perfetto (*.pftrace)"
    QString extension; ///< ".pftrace"
};

/// Asks for a file name to save to. A name without a known extension gets that of the chosen format. Asks before it
/// replaces an existing file.
/// @param kinds  not empty; the first is the default
/// @return empty: cancelled
QString askWhereToSave(QWidget* parent, const QString& title, const QString& suggested, const QList<FileKind>& kinds);

} // namespace app
