#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace profiler::formats::nsys {

/// A SELECT that is being stepped through. Columns are numbered from 0. Not thread-safe.
class Rows {
public:
    Rows(sqlite3* database, sqlite3_stmt* statement, std::string where);

    /// True: a row lies ready; false: there are no more.
    /// @return Cancelled, or Malformed where the file is damaged, naming the table and the last row read
    [[nodiscard]] Result<bool> next();
    void bind(int parameter, std::int64_t value);
    /// Back to before the first row, so that other values can be bound.
    void reset();

    [[nodiscard]] std::vector<std::string> columnNames() const;
    [[nodiscard]] bool isNull(int column) const;
    /// Empty where the value is no integer: SQLite lets any column hold anything.
    [[nodiscard]] std::optional<std::int64_t> integer(int column) const;
    /// The value as a number, 0 where it is none.
    [[nodiscard]] double real(int column) const;
    /// The value as text; valid until the next row.
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

/// A SQLite file of unknown origin, only ever read: opened immutable, read-only and defensive, with an untrusted
/// schema; no view, trigger, virtual table or extension runs, nothing beside the file is read, and the file is never
/// mapped, so that one cut meanwhile is an error and no signal. Not thread-safe.
class SqliteFile {
public:
    /// @return Unavailable while another program writes it (locks, a write-ahead log, a hot journal), NotFound,
    /// Permission, Malformed where it is empty or no SQLite file
    /// @param stop  ends a step that is under way; it then gives Cancelled
    static Result<SqliteFile> open(const std::filesystem::path& path, std::stop_token stop);

    /// Prepares a SELECT.
    /// @param where  the table it reads, for messages
    [[nodiscard]] Result<Rows> select(const std::string& sql, std::string where) const;
    /// The file holds fewer pages than it says: what is left may still be read.
    [[nodiscard]] bool isCut() const { return m_cut; }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    SqliteFile() = default;
    std::filesystem::path m_path;
    std::unique_ptr<std::stop_token> m_stop; ///< at a place that stays, for SQLite's progress handler
    std::unique_ptr<sqlite3, Close> m_database;
    bool m_cut = false;
};

/// A name as an SQL identifier.
std::string identifier(std::string_view name);

} // namespace profiler::formats::nsys
