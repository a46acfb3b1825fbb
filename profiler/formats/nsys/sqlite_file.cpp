#include "profiler/formats/nsys/sqlite_file.h"

#include "profiler/os/file_lock.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sqlite3.h>
#include <string_view>

namespace profiler::formats::nsys {

namespace {

// SQLite VM instructions between two checks of the stop token: a few tens of microseconds.
constexpr int kStepsBetweenLooks = 4000;
// Strings of a profile are shorter. A larger value is damage and would allocate its length.
constexpr int kLongestValue = 64 << 20;
constexpr int kCacheKib = 8 << 10;

/// SQLite's messages may quote bytes of the file, which can be anything if the file is damaged. Its own text is ASCII.
std::string printable(std::string text)
{
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e)
            c = '?';
    return text;
}

Error damaged(sqlite3* database, const std::string& where)
{
    return makeError<"nsys.damaged", "the file is damaged ({why})">(
        Error::Code::Malformed, where, "export the report again: nsys export --type sqlite REPORT.nsys-rep",
        {{"why", printable(sqlite3_errmsg(database))}});
}

Error failed(sqlite3* database, const std::string& where)
{
    switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_INTERRUPT:
        return makeError<"nsys.stopped", "reading was stopped">(Error::Code::Cancelled, where);
    case SQLITE_NOMEM:
        return makeError<"nsys.no_memory", "not enough memory">(
            Error::Code::NoSpace, where, "close other programs, or export a shorter window of the report");
    case SQLITE_IOERR:
        return makeError<"nsys.io", "{why}">(Error::Code::Io, where, {}, {{"why", sqlite3_errmsg(database)}});
    default:
        return damaged(database, where);
    }
}

/// Percent-encodes the bytes of a path that a file: URI cannot contain.
std::string uriOf(const std::filesystem::path& path)
{
    std::string uri = "file:";
    for (const char c : std::filesystem::absolute(path).string()) {
        if (c == '%' || c == '?' || c == '#')
            uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        else
            uri += c;
    }
    return uri + "?mode=ro&immutable=1";
}

/// Lets a statement only read tables and call SQLite's own pure functions.
int allow(void*, int action, const char*, const char*, const char*, const char*)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
        return SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

int shallStop(void* token)
{
    return static_cast<std::stop_token*>(token)->stop_requested() ? 1 : 0;
}

void harden(sqlite3* database, bool cut)
{
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    // SQLite rejects a truncated file completely unless its schema may be written, which defensive mode forbids. The
    // connection is still read-only, and the authorizer only lets SELECT through.
    if (cut)
        sqlite3_db_config(database, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
    else
        sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValue);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    const std::string settings = fmt::format(
        "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=FILE; PRAGMA cache_size=-{};", kCacheKib);
    sqlite3_exec(database, settings.c_str(), nullptr, nullptr, nullptr);
    sqlite3_set_authorizer(database, allow, nullptr);
}

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;
// SQLite locks these bytes of the file, which hold no data, while a program writes.
constexpr std::uint64_t kLockBytes = 0x40000000;
constexpr std::uint64_t kLockLength = 512;

Error cannotOpen(const std::filesystem::path& path, int error)
{
    const Error::Code code = error == ENOENT                     ? Error::Code::NotFound
                             : error == EACCES || error == EPERM ? Error::Code::Permission
                                                                 : Error::Code::Io;
    return makeError<"nsys.io", "{why}">(code, path.string(), {}, {{"why", std::strerror(error)}});
}

std::uint64_t bigEndian(std::span<const std::byte> bytes)
{
    std::uint64_t value = 0;
    for (const std::byte byte : bytes)
        value = value << 8 | std::to_integer<std::uint64_t>(byte);
    return value;
}

bool hasNeighbour(const std::filesystem::path& path, std::string_view suffix)
{
    std::error_code none;
    const auto bytes = std::filesystem::file_size(path.string() + std::string(suffix), none);
    return !none && bytes > 0;
}

} // namespace

void Rows::Finalize::operator()(sqlite3_stmt* statement) const
{
    sqlite3_finalize(statement);
}

Rows::Rows(sqlite3* database, sqlite3_stmt* statement, std::string where)
    : m_database(database), m_statement(statement), m_where(std::move(where))
{
}

Result<bool> Rows::next()
{
    switch (sqlite3_step(m_statement.get())) {
    case SQLITE_ROW:
        ++m_row;
        return true;
    case SQLITE_DONE:
        return false;
    default:
        return tl::unexpected(failed(m_database, fmt::format("table {}, after row {}", m_where, m_row)));
    }
}

void Rows::bind(int parameter, std::int64_t value)
{
    sqlite3_bind_int64(m_statement.get(), parameter + 1, value);
}

void Rows::reset()
{
    sqlite3_reset(m_statement.get());
}

std::vector<std::string> Rows::columnNames() const
{
    std::vector<std::string> names;
    for (int i = 0; i < sqlite3_column_count(m_statement.get()); ++i)
        names.emplace_back(sqlite3_column_name(m_statement.get(), i));
    return names;
}

bool Rows::isNull(int column) const
{
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL;
}

std::optional<std::int64_t> Rows::integer(int column) const
{
    if (sqlite3_column_type(m_statement.get(), column) != SQLITE_INTEGER)
        return std::nullopt;
    return sqlite3_column_int64(m_statement.get(), column);
}

double Rows::real(int column) const
{
    return sqlite3_column_double(m_statement.get(), column);
}

std::string_view Rows::text(int column) const
{
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(m_statement.get(), column));
    const int bytes = sqlite3_column_bytes(m_statement.get(), column);
    return text ? std::string_view(text, static_cast<std::size_t>(bytes)) : std::string_view();
}

void SqliteFile::Close::operator()(sqlite3* database) const
{
    sqlite3_close_v2(database);
}

Result<SqliteFile> SqliteFile::open(const std::filesystem::path& path, std::stop_token stop)
{
    const auto header = readHeader(path);
    if (!header)
        return tl::unexpected(header.error());
    SqliteFile file;
    file.m_path = path;
    file.m_cut = header->isCut();
    file.m_stop = std::make_unique<std::stop_token>(std::move(stop));
    sqlite3* database = nullptr;
    const int status = sqlite3_open_v2(uriOf(path).c_str(), &database,
                                       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    file.m_database.reset(database);
    if (status != SQLITE_OK)
        return fail<"nsys.io", "{why}">(Error::Code::Io, path.string(), {},
                                        {{"why", database ? sqlite3_errmsg(database) : "not enough memory"}});
    harden(database, file.m_cut);
    sqlite3_progress_handler(database, kStepsBetweenLooks, shallStop, file.m_stop.get());
    return file;
}

Result<Rows> SqliteFile::select(const std::string& sql, std::string where) const
{
    sqlite3_stmt* statement = nullptr;
    const int status =
        sqlite3_prepare_v3(m_database.get(), sql.c_str(), static_cast<int>(sql.size()), 0, &statement, nullptr);
    Rows rows(m_database.get(), statement, where);
    if (status != SQLITE_OK)
        return tl::unexpected(failed(m_database.get(), m_path.string() + ", table " + where));
    return rows;
}

std::string identifier(std::string_view name)
{
    std::string text = "\"";
    for (const char c : name)
        text.append(c == '"' ? 2 : 1, c);
    return text + '"';
}

bool isSqlite(std::span<const std::byte> head)
{
    return head.size() >= kMagic.size() && std::memcmp(head.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<SqliteHeader> readHeader(const std::filesystem::path& path)
{
    const os::Descriptor file = os::openToRead(path);
    const auto state = file ? os::stateOf(file.get()) : std::nullopt;
    if (!state)
        return tl::unexpected(cannotOpen(path, errno));
    std::array<std::byte, kHeaderBytes> head{};
    if (os::readAt(file.get(), 0, head).bytes < kHeaderBytes || !isSqlite(head))
        return tl::unexpected(Error{.code = Error::Code::Malformed,
                                    .what = state->bytes == 0
                                                ? message<"file.empty", "the file is empty">()
                                                : message<"nsys.no_sqlite", "this is not a SQLite file">(),
                                    .where = path.string(),
                                    .hint = "export the report again: nsys export --type sqlite REPORT.nsys-rep"});
    if (os::isLockedForWriting(file.get(), kLockBytes, kLockLength))
        return fail<"nsys.being_written", "another program is writing this file">(
            Error::Code::Unavailable, path.string(), "wait until it has finished");
    if (hasNeighbour(path, "-wal"))
        return fail<"nsys.wal", "changes to this file are still in its write-ahead log (…-wal) and would be missed">(
            Error::Code::Unavailable, path.string(),
            "close the program that wrote them, or run: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'");
    if (hasNeighbour(path, "-journal"))
        return fail<"nsys.journal", "the program that was writing this file was interrupted (…-journal)">(
            Error::Code::Unavailable, path.string(),
            "export the report again: nsys export --type sqlite REPORT.nsys-rep");
    const std::span bytes(head);
    SqliteHeader header;
    header.fileBytes = state->bytes;
    header.pageBytes = bigEndian(bytes.subspan(16, 2));
    if (header.pageBytes == 1) // 65,536 does not fit in two bytes
        header.pageBytes = 65536;
    // The page count is valid only if it was written with the last change.
    if (bigEndian(bytes.subspan(24, 4)) == bigEndian(bytes.subspan(92, 4)))
        header.pages = bigEndian(bytes.subspan(28, 4));
    return header;
}

} // namespace profiler::formats::nsys
