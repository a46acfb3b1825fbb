#pragma once

#include "app/models/table_rows.h"
#include "profiler/model/result.h"

#include <QString>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>

namespace app {

/// Rows as text for other programs, with exact figures: a heading, then a line a row.
enum class TableText {
    Csv, ///< as profiler::formats::writers::appendCsvRow() has it
    Tsv, ///< for a spreadsheet's clipboard; tabs and line ends in cells become blanks
};

/// For any thread.
/// @param rows      positions; for some rows, since all of it lies in memory
/// @param progress  called with shares of [0, 1] now and then
/// @return of the rows until it was asked to stop
QString tableText(const TableRows& table, std::span<const std::size_t> rows, TableText kind,
                  const std::function<void(double)>& progress = {}, const std::stop_token& stop = {});

/// Writes all rows as UTF-8 CSV. A failed or stopped writing leaves no file behind.
profiler::Result<void> saveCsv(const TableRows& table, const std::filesystem::path& path,
                               const std::function<void(double)>& progress = {}, const std::stop_token& stop = {});

} // namespace app
