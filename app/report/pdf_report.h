#pragma once

#include "advisor/report/report.h"

#include <filesystem>

namespace app {

/// Writes the report on A4 pages, with vector charts and searchable text. The file is written completely or not at all.
/// Any thread, while a QGuiApplication exists.
profiler::Result<void> writePdfReport(const std::filesystem::path& path, const advisor::ReportModel& model);

} // namespace app
