#pragma once

#include "profiler/formats/nsys/sqlite_file.h"
#include "profiler/model/trace_builder.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

/// What the numbers and names in an export mean: its tables and columns, its strings, and its enumerations.
namespace profiler::formats::nsys {

/// The text in lower case, for comparisons with texts of the exporter. Only ASCII letters change.
std::string lowerCase(std::string_view text);

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

/// The strings of the file, read on first use and interned in the trace. The table also contains strings that no slice
/// uses (symbols, log files); these are never read.
class ExportStrings {
public:
    static Result<ExportStrings> open(const SqliteFile& file, const ExportSchema& schema, TraceBuilder& builder);

    /// The string of a row of StringIds; empty if the row does not exist.
    StringId at(std::int64_t id);
    /// True if StringIds has no row with this id. Valid directly after a call of at() with the id.
    [[nodiscard]] bool lacks(std::int64_t id) const { return m_missing.contains(id); }
    /// The string without the version suffix of a runtime call: "cudaLaunchKernel_v7000" becomes cudaLaunchKernel.
    StringId callAt(std::int64_t id);
    [[nodiscard]] std::string_view text(StringId id) const { return m_builder->string(id); }
    StringId intern(std::string_view text) { return m_builder->intern(text); }

private:
    explicit ExportStrings(TraceBuilder& builder) : m_builder(&builder) {}
    TraceBuilder* m_builder;
    std::optional<Rows> m_rows; ///< empty if the file has no StringIds
    std::unordered_map<std::int64_t, StringId> m_known, m_calls;
    std::unordered_set<std::int64_t> m_missing;
};

/// The meaning of enumeration values in this file: from its ENUM_ table or, if that is missing, the values that CUPTI
/// has used since CUDA 5.
struct ExportEnums {
    std::map<std::int64_t, CopyKind> copies;
    std::set<std::int64_t> managedCopies; ///< pages that unified memory moves; their memory is recorded as unknown
    std::map<std::int64_t, MemoryKind> memories;
    std::map<std::int64_t, std::string> syncTypes, overheadTypes;
    std::map<std::int64_t, std::string> eventTypes;   ///< "NvtxPushPopRange"…
    std::map<std::int64_t, std::string> eventClasses; ///< "TRACE_PROCESS_EVENT_CUDA_DRIVER"…
    std::map<std::int64_t, std::string> severities;

    static Result<ExportEnums> read(const SqliteFile& file, const ExportSchema& schema);
    [[nodiscard]] CopyKind copy(std::int64_t value) const;
    [[nodiscard]] MemoryKind memory(std::int64_t value) const;
    [[nodiscard]] std::string_view eventType(std::int64_t value) const;
    /// True for a stream that waits for an event; no host thread waits.
    [[nodiscard]] bool isStreamWait(std::int64_t syncType) const;
};

} // namespace profiler::formats::nsys
