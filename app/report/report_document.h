#pragma once

#include "advisor/report/report.h"

#include <QTextDocument>

namespace app {

/// Lays out a report as a text document for printing: headings, tables with repeated header rows, charts.
/// @param document  empty, with its paint device and page size set
void fillDocument(QTextDocument& document, const advisor::ReportModel& model);

} // namespace app
