#include "profiler/query/query.h"

#include "profiler/model/number_text.h"
#include "profiler/model/track_slices.h"
#include "profiler/os/edit_distance.h"
#include "profiler/query/trace_tables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace profiler::query {

namespace {

constexpr int kLongestValue = 16 << 20;    // bytes; no name or argument of a trace is longer
constexpr int kLongestStatement = 1 << 20; // bytes
constexpr int kSortMemoryKib = 64 << 10;   // see Limits
// Instructions of SQLite's virtual machine between two checks for a stop: a few tens of microseconds.
constexpr int kInstructionsBetweenChecks = 2000;

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Connection = std::unique_ptr<sqlite3, CloseDatabase>;

struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// Lets a statement only read tables and call functions that have no effect.
int allow(void*, int action, const char*, const char* name, const char*, const char*)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return name && sqlite3_stricmp(name, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

int mustStop(void* session)
{
    return static_cast<const Session*>(session)->mustStop() ? 1 : 0;
}

/// The details of the slice in the first argument of a function; none if there is no such slice.
std::optional<SliceDetails> detailsOf(sqlite3_context* context, sqlite3_value* key)
{
    const Trace& trace = static_cast<const Session*>(sqlite3_user_data(context))->trace();
    const auto id =
        sqlite3_value_type(key) == SQLITE_INTEGER ? sliceOfKey(trace, sqlite3_value_int64(key)) : std::nullopt;
    if (!id)
        return std::nullopt;
    auto details = trace.details(*id);
    if (details)
        return std::move(*details);
    const std::string why = details.error().message();
    sqlite3_result_error(context, why.c_str(), static_cast<int>(why.size()));
    return std::nullopt;
}

/// Numbers are returned as numbers, so that they compare as such.
void resultArgument(sqlite3_context* context, const std::string& text)
{
    const char* end = text.data() + text.size();
    std::int64_t integer = 0;
    double real = 0;
    if (const auto parsed = std::from_chars(text.data(), end, integer); parsed.ec == std::errc() && parsed.ptr == end)
        return sqlite3_result_int64(context, integer);
    if (const auto parsed = std::from_chars(text.data(), end, real); parsed.ec == std::errc() && parsed.ptr == end)
        return sqlite3_result_double(context, real);
    sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

void argFunction(sqlite3_context* context, int, sqlite3_value** arguments)
{
    const int status = guarded([&] {
        const auto details = detailsOf(context, arguments[0]);
        const auto* key = reinterpret_cast<const char*>(sqlite3_value_text(arguments[1]));
        if (!details || !key)
            return SQLITE_OK;
        const auto found = std::ranges::find(*details, std::string_view(key),
                                             [](const auto& entry) { return std::string_view(entry.first); });
        if (found != details->end())
            resultArgument(context, found->second);
        return SQLITE_OK;
    });
    if (status != SQLITE_OK)
        sqlite3_result_error_code(context, status);
}

void appendJsonString(std::string& json, std::string_view text)
{
    constexpr std::string_view kHex = "0123456789abcdef";
    json += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            (json += '\\') += c;
        else if (byte < 0x20)
            ((json += "\\u00") += kHex[byte >> 4]) += kHex[byte & 15];
        else
            json += c;
    }
    json += '"';
}

void argsFunction(sqlite3_context* context, int, sqlite3_value** arguments)
{
    const int status = guarded([&] {
        const auto details = detailsOf(context, arguments[0]);
        if (!details)
            return SQLITE_OK;
        std::string json = "{";
        for (const auto& [key, value] : *details) {
            if (json.size() > 1)
                json += ", ";
            appendJsonString(json, key);
            json += ": ";
            appendJsonString(json, value);
        }
        json += '}';
        sqlite3_result_text(context, json.data(), static_cast<int>(json.size()), SQLITE_TRANSIENT);
        return SQLITE_OK;
    });
    if (status != SQLITE_OK)
        sqlite3_result_error_code(context, status);
}

Error outOfMemory()
{
    return makeError<"query.no_memory", "not enough memory for the query">(
        Error::Code::NoSpace, {}, "close other programs, or select fewer rows");
}

/// Opens a database in memory that contains only the tables of the trace.
/// @param extra  keeps the tables of the caller; must outlive the connection
Result<Connection> connect(Session& session, std::list<RowTable>& extra)
{
    sqlite3* opened = nullptr;
    int status =
        sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nullptr);
    Connection database(opened);
    const auto then = [&](auto&& step) {
        if (status == SQLITE_OK)
            status = step();
    };
    const auto execute = [&](const std::string& sql) {
        return sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr);
    };
    if (status == SQLITE_OK) {
        sqlite3_limit(database.get(), SQLITE_LIMIT_LENGTH, kLongestValue);
        sqlite3_limit(database.get(), SQLITE_LIMIT_SQL_LENGTH, kLongestStatement);
        sqlite3_limit(database.get(), SQLITE_LIMIT_ATTACHED, 0);
        sqlite3_db_config(database.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    }
    then([&] { return execute("PRAGMA temp_store=FILE; PRAGMA cache_size=-" + std::to_string(kSortMemoryKib) + ';'); });
    // SQLite declares a table when a statement first mentions it, which the authorizer below would refuse.
    const auto mention = [&](const std::string& table) {
        sqlite3_stmt* statement = nullptr;
        const int prepared =
            sqlite3_prepare_v2(database.get(), ("SELECT 1 FROM " + table).c_str(), -1, &statement, nullptr);
        sqlite3_finalize(statement);
        return prepared;
    };
    const auto addTable = [&](const RowTable& table) {
        then([&] { return addRowTable(database.get(), table, session); });
        then([&] { return mention(table.info.name); });
    };
    then([&] { return addSliceTable(database.get(), session); });
    then([&] { return mention(sliceInfo().name); });
    for (const RowTable& table : traceTables())
        addTable(table);
    for (const ExtraTable& table : session.source.extraTables)
        addTable(extra.emplace_back(extraRowTable(table)));
    const auto addFunction = [&](const char* name, int arguments, auto* function) {
        return sqlite3_create_function_v2(database.get(), name, arguments, SQLITE_UTF8 | SQLITE_INNOCUOUS, &session,
                                          function, nullptr, nullptr, nullptr);
    };
    then([&] { return addFunction("arg", 2, argFunction); });
    then([&] { return addFunction("args", 1, argsFunction); });
    for (const TableInfo& view : viewInfos())
        then([&] { return execute("CREATE VIEW " + view.name + " AS " + view.select); });
    if (status == SQLITE_NOMEM || !database)
        return tl::unexpected(outOfMemory());
    if (status != SQLITE_OK)
        return fail<"query.engine", "SQLite cannot be started: {why}">(Error::Code::Io, {}, {},
                                                                       {{"why", sqlite3_errmsg(database.get())}});
    sqlite3_db_config(database.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_set_authorizer(database.get(), allow, nullptr);
    sqlite3_progress_handler(database.get(), kInstructionsBetweenChecks, mustStop, &session);
    return database;
}

/// What the user may have meant by an unknown table or column; empty if nothing is similar.
std::string suggestion(std::string_view message)
{
    constexpr std::string_view kColumn = "no such column: ", kTable = "no such table: ";
    std::vector<std::string> known;
    std::string_view wanted;
    if (message.starts_with(kTable)) {
        wanted = message.substr(kTable.size());
        for (const TableInfo& table : tables())
            known.push_back(table.name);
    } else if (message.starts_with(kColumn)) {
        wanted = message.substr(kColumn.size());
        for (const TableInfo& table : tables())
            for (const ColumnInfo& column : table.columns)
                known.push_back(column.name);
    }
    wanted.remove_prefix(wanted.rfind('.') == std::string_view::npos ? 0 : wanted.rfind('.') + 1);
    std::string best;
    std::size_t least = std::max<std::size_t>(wanted.size() / 2, 1) + 1;
    for (const std::string& name : known) {
        const bool isPart = wanted.size() > 2 && (name.starts_with(wanted) || wanted.starts_with(name));
        const std::size_t distance = isPart ? 1 : os::editDistance(wanted, name);
        if (distance < least && sqlite3_stricmp(name.c_str(), std::string(wanted).c_str()) != 0) {
            least = distance;
            best = name;
        }
    }
    return best.empty() ? std::string() : "did you mean " + best + '?';
}

/// The error of SQLite's last call.
/// @param offset  byte offset of the error in `sql`; negative: unknown
Error sqlError(std::string_view sql, const std::string& why, int offset)
{
    if (why == "incomplete input")
        offset = static_cast<int>(sql.find_last_not_of(" \t\r\n") + 1);
    if (offset < 0 || static_cast<std::size_t>(offset) > sql.size())
        return makeError<"query.sql", "{why}">(Error::Code::Invalid, {}, suggestion(why), {{"why", why}});
    const std::string_view before = sql.substr(0, static_cast<std::size_t>(offset));
    const std::string_view line = before.substr(before.rfind('\n') + 1); // npos + 1 is 0
    const auto number = std::count(before.begin(), before.end(), '\n') + 1;
    // Columns count characters, not bytes of UTF-8.
    const auto column =
        std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }) +
        1;
    const std::string where = "line " + std::to_string(number) + ", column " + std::to_string(column);
    return makeError<"query.sql", "{why}">(Error::Code::Invalid, where, suggestion(why),
                                           {{"why", why}, {"line", number}, {"column", column}});
}

Error failed(sqlite3* database, const Session& session, std::string_view sql, const Limits& limits)
{
    switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_INTERRUPT:
        if (session.stop.stop_requested())
            return makeError<"query.stopped", "the query was cancelled">(Error::Code::Cancelled);
        return makeError<"query.timeout", "the query took longer than {limit}">(
            Error::Code::Unavailable, {}, "select fewer slices with conditions on kind, ts or step, or allow more time",
            {{"limit", std::chrono::duration<double>(limits.time).count(), durationText(limits.time)}});
    case SQLITE_AUTH:
        return makeError<"query.not_select", "only SELECT statements can be run">(
            Error::Code::Invalid, {}, "start with SELECT or WITH; a trace cannot be changed");
    case SQLITE_TOOBIG:
        return makeError<"query.too_big", "a value of the query is longer than {limit}">(
            Error::Code::Invalid, {}, "aggregate fewer rows into one value",
            {{"limit", kLongestValue, std::to_string(kLongestValue >> 20) + " MiB"}});
    case SQLITE_NOMEM:
        return outOfMemory();
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return makeError<"query.temporary_file", "the temporary file for sorting cannot be written: {why}">(
            Error::Code::NoSpace, {}, "free space in the temporary folder, or sort fewer rows",
            {{"why", sqlite3_errmsg(database)}});
    default:
        return sqlError(sql, sqlite3_errmsg(database), sqlite3_error_offset(database));
    }
}

/// Prepares the only statement of a text.
Result<Statement> prepare(sqlite3* database, const Session& session, std::string_view sql, const Limits& limits)
{
    sqlite3_stmt* prepared = nullptr;
    const char* tail = nullptr;
    const int status = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &prepared, &tail);
    Statement statement(prepared);
    if (status != SQLITE_OK)
        return tl::unexpected(failed(database, session, sql, limits));
    if (!statement)
        return fail<"query.empty", "the query is empty">(Error::Code::Invalid, {},
                                                         "type a SELECT statement, or choose an example");
    // After the statement, only comments may follow.
    const std::string_view rest(tail, static_cast<std::size_t>(sql.data() + sql.size() - tail));
    sqlite3_stmt* second = nullptr;
    const int secondStatus = sqlite3_prepare_v2(database, rest.data(), static_cast<int>(rest.size()), &second, nullptr);
    sqlite3_finalize(second);
    if (secondStatus != SQLITE_OK || second)
        return fail<"query.several", "only one statement can be run">(Error::Code::Invalid, {},
                                                                      "remove what follows the first semicolon");
    if (sqlite3_stmt_readonly(statement.get()) == 0 || sqlite3_column_count(statement.get()) == 0)
        return fail<"query.not_select", "only SELECT statements can be run">(
            Error::Code::Invalid, {}, "start with SELECT or WITH; a trace cannot be changed");
    return statement;
}

Value valueAt(sqlite3_stmt* statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
        return sqlite3_column_double(statement, column);
    case SQLITE_NULL:
        return std::monostate{};
    default: {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        const int bytes = sqlite3_column_bytes(statement, column);
        return text ? std::string(text, static_cast<std::size_t>(bytes)) : std::string();
    }
    }
}

std::size_t bytesOf(const Value& value)
{
    const auto* text = std::get_if<std::string>(&value);
    return sizeof(Value) + (text ? text->capacity() : 0);
}

} // namespace

const analysis::Step* Session::stepAt(TraceTime time) const
{
    const auto& steps = source.steps;
    const auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                        [](TraceTime at, const analysis::Step& step) { return at < step.range.begin; });
    if (after == steps.begin() || !std::prev(after)->range.contains(time))
        return nullptr;
    return &*std::prev(after);
}

std::optional<SliceId> sliceOfKey(const Trace& trace, std::int64_t key)
{
    const auto bits = static_cast<std::uint64_t>(key);
    const SliceId id{TrackId{static_cast<std::uint32_t>(bits >> 32)}, static_cast<std::uint32_t>(bits)};
    if (id.track.value >= trace.tracks().size() || !trace.slicesOf(id.track).find(id.ordinal))
        return std::nullopt;
    return id;
}

Result<ResultTable> runQuery(const Source& source, std::string_view sql, const Limits& limits,
                             const std::stop_token& stop)
{
    const auto begin = std::chrono::steady_clock::now();
    Session session{source, stop, begin + limits.time};
    std::list<RowTable> extra;
    const auto database = connect(session, extra);
    if (!database)
        return tl::unexpected(database.error());
    const auto statement = prepare(database->get(), session, sql, limits);
    if (!statement)
        return tl::unexpected(statement.error());
    ResultTable table;
    const int columns = sqlite3_column_count(statement->get());
    for (int i = 0; i < columns; ++i) {
        const char* name = sqlite3_column_name(statement->get(), i);
        ResultColumn column{name ? name : "", unitOfDeclaredType(sqlite3_column_decltype(statement->get(), i))};
        if (!sqlite3_column_decltype(statement->get(), i))
            column.unit = unitOfName(column.name);
        table.columns.push_back(std::move(column));
    }
    std::size_t bytes = 0;
    int status = SQLITE_OK;
    while ((status = sqlite3_step(statement->get())) == SQLITE_ROW) {
        if (table.rows >= limits.rows || bytes >= limits.bytes) {
            table.isCut = true;
            break;
        }
        for (int i = 0; i < columns; ++i) {
            table.values.push_back(valueAt(statement->get(), i));
            bytes += bytesOf(table.values.back());
        }
        ++table.rows;
    }
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        return tl::unexpected(failed(database->get(), session, sql, limits));
    table.elapsed = std::chrono::steady_clock::now() - begin;
    return table;
}

Unit unitOfName(std::string_view name)
{
    std::string word;
    for (const char c : name)
        if (c != ' ')
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    constexpr std::array<std::string_view, 5> kKeepUnit = {"sum(", "avg(", "min(", "max(", "total("};
    for (const std::string_view function : kKeepUnit)
        if (word.starts_with(function) && word.ends_with(')'))
            word = word.substr(function.size(), word.size() - function.size() - 1);
    if (const auto dot = word.rfind('.'); dot != std::string::npos)
        word.erase(0, dot + 1);
    if (word.ends_with("_ns"))
        return Unit::Duration;
    if (word.ends_with("_bytes"))
        return Unit::Bytes;
    // A name that has different units in different tables says nothing.
    static const std::map<std::string, Unit, std::less<>> units = [] {
        std::map<std::string, Unit, std::less<>> known;
        for (const TableInfo& table : tables())
            for (const ColumnInfo& column : table.columns)
                if (const auto [at, isNew] = known.emplace(column.name, column.unit);
                    !isNew && at->second != column.unit)
                    at->second = Unit::None;
        return known;
    }();
    const auto found = units.find(word);
    return found == units.end() ? Unit::None : found->second;
}

std::string markedLine(std::string_view sql, const Error& error)
{
    const MessageParameter* line = error.what.find("line");
    const MessageParameter* column = error.what.find("column");
    if (!line || !column)
        return {};
    for (std::int64_t i = 1; i < std::get<std::int64_t>(line->value); ++i)
        sql.remove_prefix(std::min(sql.find('\n'), sql.size() - 1) + 1);
    const std::string shown(sql.substr(0, sql.find('\n')));
    return shown + '\n' + std::string(static_cast<std::size_t>(std::get<std::int64_t>(column->value) - 1), ' ') + '^';
}

} // namespace profiler::query
