#include "app/report/report_file.h"

#include "app/look/save_dialog.h"

#include <QCoreApplication>

namespace app {

QString askForReportFile(QWidget* parent, const QString& title, const QString& suggested)
{
    return askWhereToSave(parent, title, suggested,
                          {{QCoreApplication::translate("Report", "Web page (*.html)"), ".html"},
                           {QCoreApplication::translate("Report", "PDF (*.pdf)"), ".pdf"}});
}

} // namespace app
