#pragma once

#include "advisor/report/report.h"

#include <filesystem>

class QPagedPaintDevice;
class QTextDocument;

namespace app {

/// Writes the report on A4 pages with searchable text and page numbers. The file is written completely or not at all.
/// Any thread, while a QGuiApplication exists.
profiler::Result<void> writePdfReport(const std::filesystem::path& path, const advisor::ReportModel& model);

/// Fills an empty document with the HTML of the report, and lays it out for the pages of a printer, with room for a
/// footer. Charts become images.
void layOutReport(QTextDocument& document, QPagedPaintDevice& printer, const advisor::ReportModel& model);

} // namespace app
