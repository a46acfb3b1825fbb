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

/// @param rows  positions; for some rows, since all of it lies in memory
QString tableText(const TableRows& table, std::span<const std::size_t> rows, TableText kind);

/// Writes all rows as UTF-8 CSV. A failed or stopped writing leaves no file behind.
profiler::Result<void> saveCsv(const TableRows& table, const std::filesystem::path& path,
                               const std::function<void(double)>& progress = {}, const std::stop_token& stop = {});

} // namespace app
