#pragma once

#include "profiler/io/formats/nsys/sqlite_file.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::formats::nsys {

/// What tables a file has, with their columns: exporters of different versions write different ones.
class ExportSchema {
public:
    /// @return Unsupported where the file is another program's database
    static Result<ExportSchema> read(const SqliteFile& file);

    [[nodiscard]] bool has(std::string_view table) const { return m_columns.find(table) != m_columns.end(); }
    [[nodiscard]] bool has(std::string_view table, std::string_view column) const;
    /// A table's SELECT of its row id and these columns; a column that it lacks reads as null.
    [[nodiscard]] Result<Rows> select(const SqliteFile& file, std::string_view table,
                                      const std::vector<std::string_view>& columns,
                                      const std::string& clause = {}) const;
    [[nodiscard]] const std::vector<std::string>& columns(std::string_view table) const;
    /// Tables whose rows are events: those that have a `start` or a `timestamp`, except what describes the capture.
    [[nodiscard]] std::vector<std::string> eventTables() const;

private:
    std::map<std::string, std::vector<std::string>, std::less<>> m_columns;
};

} // namespace profiler::formats::nsys
