#pragma once

#include "advisor/report/report.h"

#include <QTextDocument>

namespace app {

/// Lays a report out as a text document for paper: headings, tables whose heads repeat on each page, figures.
/// @param document  empty; its paint device and page size are set
void fillDocument(QTextDocument& document, const advisor::ReportModel& model);

} // namespace app
