#pragma once

#include "advisor/report/report.h"

#include <filesystem>

namespace app {

/// Writes the report on A4 pages, its figures as vectors, its text to be searched and copied. Written whole or not at
/// all. Any thread, while there is a QGuiApplication.
profiler::Result<void> writePdfReport(const std::filesystem::path& path, const advisor::ReportModel& model);

} // namespace app
