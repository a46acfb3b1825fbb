#include "profiler/formats/nsys/export_schema.h"

#include <algorithm>

namespace profiler::formats::nsys {

namespace {

// An export has about a hundred tables. A file with far more is not an export and would cost time and memory.
constexpr std::size_t kMostTables = 4096;

bool isExport(const ExportSchema& schema)
{
    if (schema.has("META_DATA_EXPORT") || schema.has("TARGET_INFO_SESSION_START_TIME"))
        return true;
    // Exports from before 2021 do not have this table, and neither do fixtures cut from them.
    return schema.has("StringIds", "value") &&
           (schema.has("CUPTI_ACTIVITY_KIND_KERNEL", "start") || schema.has("CUPTI_ACTIVITY_KIND_RUNTIME", "start") ||
            schema.has("NVTX_EVENTS", "start"));
}

Error notAnExport(const SqliteFile& file)
{
    return makeError<"nsys.no_export",
                     "this SQLite file is not an Nsight Systems export: it has none of the expected tables">(
        Error::Code::Unsupported, file.path().string(), "export the report: nsys export --type sqlite REPORT.nsys-rep");
}

Error inFile(const SqliteFile& file, Error error)
{
    error.where = file.path().string() + ", " + error.where;
    return error;
}

} // namespace

Result<ExportSchema> ExportSchema::read(const SqliteFile& file)
{
    auto tables = file.select("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0", "sqlite_master");
    if (!tables)
        return tl::unexpected(tables.error());
    std::vector<std::string> names;
    auto more = tables->next();
    for (; more && *more && names.size() < kMostTables; more = tables->next())
        names.emplace_back(tables->text(0));
    if (!more && (more.error().code != Error::Code::Malformed || names.empty()))
        return tl::unexpected(inFile(file, more.error()));
    ExportSchema schema;
    for (const std::string& name : names) {
        auto columns = file.select("SELECT * FROM " + identifier(name) + " LIMIT 0", name);
        if (columns)
            schema.m_columns.emplace(name, columns->columnNames());
        else if (columns.error().code == Error::Code::Cancelled)
            return tl::unexpected(columns.error());
    }
    if (!isExport(schema))
        return tl::unexpected(notAnExport(file));
    return schema;
}

bool ExportSchema::has(std::string_view table, std::string_view column) const
{
    const auto& all = columns(table);
    return std::find(all.begin(), all.end(), column) != all.end();
}

const std::vector<std::string>& ExportSchema::columns(std::string_view table) const
{
    static const std::vector<std::string> kNone;
    const auto found = m_columns.find(table);
    return found == m_columns.end() ? kNone : found->second;
}

Result<Rows> ExportSchema::select(const SqliteFile& file, std::string_view table,
                                  const std::vector<std::string_view>& columns, const std::string& clause) const
{
    std::string sql = "SELECT rowid";
    for (const std::string_view column : columns)
        sql += has(table, column) ? ", " + identifier(column) : std::string(", NULL");
    sql += " FROM " + identifier(table);
    if (!clause.empty())
        sql += " " + clause;
    return file.select(sql, std::string(table));
}

std::vector<std::string> ExportSchema::eventTables() const
{
    std::vector<std::string> names;
    for (const auto& [name, columns] : m_columns) {
        const bool describes = name.starts_with("TARGET_INFO") || name.starts_with("ANALYSIS_") ||
                               name.starts_with("META_") || name.starts_with("ENUM_");
        const bool timed = std::any_of(columns.begin(), columns.end(), [](const std::string& column) {
            return column == "start" || column == "timestamp";
        });
        if (timed && !describes)
            names.push_back(name);
    }
    return names;
}

} // namespace profiler::formats::nsys
