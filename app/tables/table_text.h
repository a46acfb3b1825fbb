#pragma once

#include "app/tables/table_rows.h"
#include "profiler/model/result.h"

#include <QString>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace app {

/// Positions in TableRows::columns(), in the order in which they are shown.
using TableColumns = std::vector<std::size_t>;
TableColumns allColumns(const TableRows& table);

/// Rows as text for other programs, with exact values: a heading, then one line per row.
enum class TableText {
    Csv, ///< format of profiler::formats::writers::appendCsvRow()
    Tsv, ///< for pasting into spreadsheets; tabs and line ends in cells become spaces
};

/// May be called on any thread.
/// @param rows      row positions; keep them few, because the whole text is in memory
/// @param progress  called occasionally with a share in [0, 1]
/// @return the text of the rows up to the point where it was stopped
QString tableText(const TableRows& table, std::span<const std::size_t> rows, const TableColumns& columns,
                  TableText kind, const std::function<void(double)>& progress = {}, const std::stop_token& stop = {});

/// Writes all rows as UTF-8 CSV. Leaves no file behind if it fails or is stopped.
profiler::Result<void> saveCsv(const TableRows& table, const TableColumns& columns, const std::filesystem::path& path,
                               const std::function<void(double)>& progress = {}, const std::stop_token& stop = {});

} // namespace app
