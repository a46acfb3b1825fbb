#pragma once

#include <QString>

class QWidget;

namespace app {

/// Asks where to save a report, as a web page or PDF. A name without an extension gets that of the chosen format.
/// Empty: cancelled.
QString askForReportFile(QWidget* parent, const QString& title, const QString& suggested);

} // namespace app
