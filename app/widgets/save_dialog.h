#pragma once

#include <QList>
#include <QString>

class QWidget;

namespace app {

/// A kind of file that something can be saved as.
struct FileKind {
    QString filter;    ///< of a file dialog: "Perfetto (*.pftrace)"
    QString extension; ///< ".pftrace"
};

/// Asks where something is to be saved. A name without an extension of one of the kinds gets that of the chosen kind;
/// no file is replaced that was not asked about by its whole name.
/// @param kinds  not empty; the first is suggested
/// @return empty: cancelled
QString askWhereToSave(QWidget* parent, const QString& title, const QString& suggested, const QList<FileKind>& kinds);

} // namespace app
