#include "profiler/formats/nsys/export_schema.h"

#include <algorithm>
#include <array>
#include <cctype>

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

using Labels = std::map<std::int64_t, std::string>;

// Limit of the string cache. Beyond it, the oldest entries are dropped; results do not change.
constexpr std::size_t kMostKnown = 1U << 20;

/// "cudaMemcpyAsync_v3020", "cudaLaunchKernel_ptsz_v7000": such a version suffix has at least four digits.
/// cuMemAlloc_v2 therefore keeps its suffix, which is a part of the name.
std::string_view withoutVersion(std::string_view name)
{
    const std::size_t mark = name.rfind("_v");
    if (mark == name.npos || name.size() - mark < 6)
        return name;
    const std::string_view digits = name.substr(mark + 2);
    return std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); })
               ? name.substr(0, mark)
               : name;
}

/// A table of numbers and names; empty if the file has none. Damage is reported by the tables of events.
Result<Labels> labels(const SqliteFile& file, const ExportSchema& schema, std::string_view table,
                      std::string_view column)
{
    Labels result;
    if (!schema.has(table, column))
        return result;
    auto rows = schema.select(file, table, {"id", column});
    if (!rows)
        return tl::unexpected(rows.error());
    for (;;) {
        const auto more = rows->next();
        if (!more && more.error().code == Error::Code::Cancelled)
            return tl::unexpected(more.error());
        if (!more || !*more)
            return result;
        if (const auto id = rows->integer(1))
            result.emplace(*id, rows->text(2));
    }
}

struct Ending {
    std::string_view ending;
    CopyKind kind;
};
// Copies to and from arrays and copies by unified memory use the same links.
constexpr std::array kCopyEndings = {
    Ending{"_HTOD", CopyKind::HtoD}, Ending{"_DTOH", CopyKind::DtoH}, Ending{"_HTOA", CopyKind::HtoD},
    Ending{"_ATOH", CopyKind::DtoH}, Ending{"_ATOA", CopyKind::DtoD}, Ending{"_ATOD", CopyKind::DtoD},
    Ending{"_DTOA", CopyKind::DtoD}, Ending{"_DTOD", CopyKind::DtoD}, Ending{"_HTOH", CopyKind::HtoH},
    Ending{"_PTOP", CopyKind::PtoP},
};
struct Part {
    std::string_view part;
    MemoryKind kind;
};
constexpr std::array kMemoryParts = {
    Part{"PAGEABLE", MemoryKind::Pageable}, Part{"PINNED", MemoryKind::Pinned}, Part{"MANAGED", MemoryKind::Managed},
    Part{"DEVICE", MemoryKind::Device},     Part{"ARRAY", MemoryKind::Array},
};

// Source: CUpti_ActivityMemcpyKind (cupti_activity.h). Nsight Systems defines 11 to 13 itself, for unified memory
// (ENUM_CUDA_MEMCPY_OPER of its export schema).
Labels defaultCopies()
{
    return {{1, "_HTOD"},      {2, "_DTOH"},      {3, "_HTOA"},     {4, "_ATOH"}, {5, "_ATOA"},
            {6, "_ATOD"},      {7, "_DTOA"},      {8, "_DTOD"},     {9, "_HTOH"}, {10, "_PTOP"},
            {11, "_UVM_HTOD"}, {12, "_UVM_DTOH"}, {13, "_UVM_DTOD"}};
}

// Numbers of Nsight Systems, which differ from CUPTI's. Source: ENUM_CUDA_MEM_KIND of its export schema.
Labels defaultMemories()
{
    return {{0, "PAGEABLE"}, {1, "PINNED"}, {2, "DEVICE"}, {3, "ARRAY"}, {4, "MANAGED"}, {5, "DEVICE"}, {6, "MANAGED"}};
}

// Source: ENUM_NSYS_EVENT_TYPE of its export schema; unchanged since 2020.
Labels defaultEventTypes()
{
    return {{33, "NvtxCategory"},      {34, "NvtxMark"},         {39, "NvtxThread"},       {59, "NvtxPushPopRange"},
            {60, "NvtxStartEndRange"}, {75, "NvtxDomainCreate"}, {76, "NvtxDomainDestroy"}};
}

Labels orElse(Labels labels, Labels defaults)
{
    return labels.empty() ? std::move(defaults) : std::move(labels);
}

template <class Key, class Value>
Value valueOr(const std::map<Key, Value>& values, Key key, Value otherwise)
{
    const auto found = values.find(key);
    return found == values.end() ? otherwise : found->second;
}

} // namespace

std::string lowerCase(std::string_view text)
{
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

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

Result<ExportStrings> ExportStrings::open(const SqliteFile& file, const ExportSchema& schema, TraceBuilder& builder)
{
    ExportStrings strings(builder);
    if (!schema.has("StringIds", "value"))
        return strings;
    auto rows = file.select("SELECT value FROM \"StringIds\" WHERE id = ?1", "StringIds");
    if (!rows)
        return tl::unexpected(rows.error());
    strings.m_rows.emplace(std::move(*rows));
    return strings;
}

StringId ExportStrings::at(std::int64_t id)
{
    if (const auto known = m_known.find(id); known != m_known.end())
        return known->second;
    StringId string;
    bool found = false;
    if (m_rows) {
        m_rows->bind(0, id);
        const auto next = m_rows->next();
        found = next && *next;
        string = found ? intern(m_rows->text(0)) : StringId{};
        m_rows->reset();
    }
    if (m_known.size() >= kMostKnown) {
        m_known.clear();
        m_missing.clear();
    }
    if (!found)
        m_missing.insert(id);
    m_known.emplace(id, string);
    return string;
}

StringId ExportStrings::callAt(std::int64_t id)
{
    if (const auto known = m_calls.find(id); known != m_calls.end())
        return known->second;
    const StringId call = intern(withoutVersion(text(at(id))));
    m_calls.emplace(id, call);
    return call;
}

Result<ExportEnums> ExportEnums::read(const SqliteFile& file, const ExportSchema& schema)
{
    ExportEnums enums;
    Labels copies, memories;
    struct Table {
        std::string_view table, column;
        Labels* into;
    };
    const Table tables[] = {{"ENUM_CUDA_MEMCPY_OPER", "name", &copies},
                            {"ENUM_CUDA_MEM_KIND", "name", &memories},
                            {"ENUM_CUPTI_SYNC_TYPE", "label", &enums.syncTypes},
                            {"ENUM_CUPTI_OVERHEAD_TYPE", "label", &enums.overheadTypes},
                            {"ENUM_NSYS_EVENT_TYPE", "name", &enums.eventTypes},
                            {"ENUM_NSYS_EVENT_CLASS", "name", &enums.eventClasses},
                            {"ENUM_DIAGNOSTIC_SEVERITY_LEVEL", "name", &enums.severities}};
    for (const Table& table : tables) {
        auto read = labels(file, schema, table.table, table.column);
        if (!read)
            return tl::unexpected(read.error());
        *table.into = std::move(*read);
    }
    for (const auto& [value, name] : orElse(std::move(copies), defaultCopies())) {
        for (const Ending& row : kCopyEndings)
            if (name.ends_with(row.ending))
                enums.copies.emplace(value, row.kind);
        if (name.find("_UVM_") != name.npos)
            enums.managedCopies.insert(value);
    }
    for (const auto& [value, name] : orElse(std::move(memories), defaultMemories()))
        for (const Part& row : kMemoryParts)
            if (name.find(row.part) != name.npos)
                enums.memories.emplace(value, row.kind); // the first match wins: device before array
    enums.eventTypes = orElse(std::move(enums.eventTypes), defaultEventTypes());
    // Source: CUpti_ActivitySynchronizationType, CUpti_ActivityOverheadKind.
    enums.syncTypes = orElse(std::move(enums.syncTypes),
                             {{1, "Event sync"}, {2, "Stream wait sync"}, {3, "Stream sync"}, {4, "Context sync"}});
    enums.severities = orElse(std::move(enums.severities), {{1, "Info"}, {2, "Warning"}, {3, "Error"}});
    return enums;
}

CopyKind ExportEnums::copy(std::int64_t value) const
{
    return valueOr(copies, value, CopyKind::Unknown);
}

MemoryKind ExportEnums::memory(std::int64_t value) const
{
    return valueOr(memories, value, MemoryKind::Unknown);
}

std::string_view ExportEnums::eventType(std::int64_t value) const
{
    const auto found = eventTypes.find(value);
    return found == eventTypes.end() ? std::string_view() : std::string_view(found->second);
}

bool ExportEnums::isStreamWait(std::int64_t syncType) const
{
    const auto found = syncTypes.find(syncType);
    return found != syncTypes.end() && lowerCase(found->second).find("wait") != std::string::npos;
}

} // namespace profiler::formats::nsys
