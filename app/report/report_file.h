#pragma once

#include <QString>

class QWidget;

namespace app {

/// Asks where a report is to be saved, as a web page or as PDF; a name without an extension gets that of the chosen
/// kind. Empty: cancelled.
QString askForReportFile(QWidget* parent, const QString& title, const QString& suggested);

} // namespace app
