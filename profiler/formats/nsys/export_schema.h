#pragma once

#include "profiler/formats/nsys/sqlite_file.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::formats::nsys {

/// The tables of a file and their columns. They differ between versions of the exporter.
class ExportSchema {
public:
    /// @return Unsupported if the database was written by another program
    static Result<ExportSchema> read(const SqliteFile& file);

    [[nodiscard]] bool has(std::string_view table) const { return m_columns.find(table) != m_columns.end(); }
    [[nodiscard]] bool has(std::string_view table, std::string_view column) const;
    /// A SELECT of the row id and these columns of a table. Columns that the table lacks read as null.
    [[nodiscard]] Result<Rows> select(const SqliteFile& file, std::string_view table,
                                      const std::vector<std::string_view>& columns,
                                      const std::string& clause = {}) const;
    [[nodiscard]] const std::vector<std::string>& columns(std::string_view table) const;
    /// Tables whose rows are events: those with a `start` or a `timestamp`, except the tables that describe the
    /// capture.
    [[nodiscard]] std::vector<std::string> eventTables() const;

private:
    std::map<std::string, std::vector<std::string>, std::less<>> m_columns;
};

} // namespace profiler::formats::nsys
