#include "app/look/save_dialog.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <algorithm>

namespace app {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(SaveDialog)
};

QString withExtension(const QString& file, const QString& chosen, const QList<FileKind>& kinds)
{
    const auto isNamed = [&](const FileKind& kind) { return file.endsWith(kind.extension, Qt::CaseInsensitive); };
    if (std::any_of(kinds.begin(), kinds.end(), isNamed))
        return file;
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const FileKind& one) { return one.filter == chosen; });
    return file + (kind == kinds.end() ? kinds.front() : *kind).extension;
}

bool mayReplace(QWidget* parent, const QString& title, const QString& file)
{
    return QMessageBox::warning(
               parent, title,
               Texts::tr("%1 already exists.\nDo you want to replace it?").arg(QFileInfo(file).fileName()),
               QMessageBox::Yes | QMessageBox::No, QMessageBox::No) == QMessageBox::Yes;
}

} // namespace

QString askWhereToSave(QWidget* parent, const QString& title, const QString& suggested, const QList<FileKind>& kinds)
{
    QStringList filters;
    for (const FileKind& kind : kinds)
        filters << kind.filter;
    QString chosen = filters.front(), start = suggested;
    for (;;) {
        const QString file = QFileDialog::getSaveFileName(parent, title, start, filters.join(";;"), &chosen);
        if (file.isEmpty())
            return {};
        // The dialog has asked about the typed name without the extension.
        const QString whole = withExtension(file, chosen, kinds);
        if (whole == file || !QFileInfo::exists(whole) || mayReplace(parent, title, whole))
            return whole;
        start = file;
    }
}

} // namespace app
