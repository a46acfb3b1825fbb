#pragma once

#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace profiler::formats::nsys {

/// A SELECT statement that is being stepped through. Columns are numbered from 0. Not thread-safe.
class Rows {
public:
    Rows(sqlite3* database, sqlite3_stmt* statement, std::string where);

    /// True if a row is available, false if there are no more rows.
    /// @return Cancelled, or Malformed if the file is damaged, with the table and the last row read
    [[nodiscard]] Result<bool> next();
    void bind(int parameter, std::int64_t value);
    /// Resets the statement to before the first row, so that other values can be bound.
    void reset();

    [[nodiscard]] std::vector<std::string> columnNames() const;
    [[nodiscard]] bool isNull(int column) const;
    /// Empty if the value is not an integer: SQLite allows any type in any column.
    [[nodiscard]] std::optional<std::int64_t> integer(int column) const;
    /// The value as a number, 0 if it is not one.
    [[nodiscard]] double real(int column) const;
    /// The value as text, valid until the next row.
    [[nodiscard]] std::string_view text(int column) const;

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    sqlite3* m_database;
    std::unique_ptr<sqlite3_stmt, Finalize> m_statement;
    std::string m_where;    ///< table
    std::int64_t m_row = 0; ///< rows read
};

/// A SQLite file from an untrusted source. It is opened immutable, read-only and defensive, with an untrusted schema.
/// Views, triggers, virtual tables and extensions do not run, and no other file is read. The file is never
/// memory-mapped, so truncation by another program is an error instead of a signal. Not thread-safe.
class SqliteFile {
public:
    /// @return Unavailable while another program is writing the file (locks, a write-ahead log, a hot journal);
    ///         NotFound; Permission; Malformed if it is empty or not a SQLite file
    /// @param stop  cancels a step in progress, which then returns Cancelled
    static Result<SqliteFile> open(const std::filesystem::path& path, std::stop_token stop);

    /// Prepares a SELECT statement.
    /// @param where  the table that it reads, for messages
    [[nodiscard]] Result<Rows> select(const std::string& sql, std::string where) const;
    /// True if the file has fewer pages than its header says. The remaining pages may still be readable.
    [[nodiscard]] bool isCut() const { return m_cut; }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    SqliteFile() = default;
    std::filesystem::path m_path;
    std::unique_ptr<std::stop_token> m_stop; ///< at a stable address, for SQLite's progress handler
    std::unique_ptr<sqlite3, Close> m_database;
    bool m_cut = false;
};

/// Quotes a name as an SQL identifier.
std::string identifier(std::string_view name);

/// True if the bytes are the start of a SQLite file.
bool isSqlite(std::span<const std::byte> head);

/// The relevant header fields of a SQLite file. Source: sqlite.org/fileformat.html.
struct SqliteHeader {
    std::uint64_t fileBytes = 0, pageBytes = 0, pages = 0; ///< pages: as in the header; 0: not recorded
    [[nodiscard]] bool isCut() const { return pages > 0 && fileBytes < pages * pageBytes; }
};

/// @return NotFound, Permission, Malformed (empty or not a SQLite file), Unavailable (another program is writing it or
///         left changes in separate files that an immutable reader would miss)
Result<SqliteHeader> readHeader(const std::filesystem::path& path);

} // namespace profiler::formats::nsys
