#include "app/report/report_file.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>

namespace app {

QString askForReportFile(QWidget* parent, const QString& title, const QString& suggested)
{
    QString chosen;
    QString file = QFileDialog::getSaveFileName(
        parent, title, suggested, QCoreApplication::translate("Report", "Web page (*.html);;PDF (*.pdf)"), &chosen);
    if (!file.isEmpty() && QFileInfo(file).suffix().isEmpty())
        file += chosen.contains("pdf") ? ".pdf" : ".html";
    return file;
}

} // namespace app
