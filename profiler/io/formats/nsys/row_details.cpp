#include "profiler/io/formats/nsys/row_details.h"

#include "profiler/io/formats/nsys/export_rows.h"

#include <array>

namespace profiler::formats::nsys {

namespace {

/// Columns whose numbers stand for words.
struct Meaning {
    std::string_view column, table, words;
};
constexpr std::array kMeanings = {
    Meaning{"demangledName", "StringIds", "value"},
    Meaning{"shortName", "StringIds", "value"},
    Meaning{"mangledName", "StringIds", "value"},
    Meaning{"nameId", "StringIds", "value"},
    Meaning{"textId", "StringIds", "value"},
    Meaning{"jsonTextId", "StringIds", "value"},
    Meaning{"copyKind", "ENUM_CUDA_MEMCPY_OPER", "label"},
    Meaning{"srcKind", "ENUM_CUDA_MEM_KIND", "label"},
    Meaning{"dstKind", "ENUM_CUDA_MEM_KIND", "label"},
    Meaning{"memKind", "ENUM_CUDA_MEM_KIND", "label"},
    Meaning{"syncType", "ENUM_CUPTI_SYNC_TYPE", "label"},
    Meaning{"overheadType", "ENUM_CUPTI_OVERHEAD_TYPE", "label"},
    Meaning{"eventType", "ENUM_NSYS_EVENT_TYPE", "label"},
    Meaning{"eventClass", "ENUM_NSYS_EVENT_CLASS", "label"},
    Meaning{"launchType", "ENUM_CUDA_KERNEL_LAUNCH_TYPE", "label"},
};

Error gone(const SqliteFile& file, const Place& place)
{
    return {.code = Error::Code::NotFound,
            .what = "the row that this slice came from is no longer there",
            .where = file.path().string() + ", table " + std::string(tableOf(place.source)) + ", row " +
                     std::to_string(place.row),
            .mend = "open the file again"};
}

} // namespace

Result<std::unique_ptr<RowDetails>> RowDetails::open(const std::filesystem::path& path, ExportSchema schema)
{
    auto file = SqliteFile::open(path, {});
    if (!file)
        return tl::unexpected(file.error());
    return std::unique_ptr<RowDetails>(new RowDetails(std::move(*file), std::move(schema)));
}

std::string RowDetails::lookedUp(std::string_view table, std::string_view column, std::int64_t id) const
{
    if (!m_schema.has(table, column))
        return {};
    auto rows = m_file.select("SELECT " + identifier(column) + " FROM " + identifier(table) + " WHERE id = ?1",
                              std::string(table));
    if (!rows)
        return {};
    rows->bind(0, id);
    const auto found = rows->next();
    return found && *found ? std::string(rows->text(0)) : std::string();
}

Result<SliceDetails> RowDetails::read(std::uint64_t source) const
{
    const Place place = placeFrom(source);
    const std::string table(tableOf(place.source));
    const std::lock_guard lock(m_mutex);
    auto rows = m_file.select("SELECT * FROM " + identifier(table) + " WHERE rowid = ?1", table);
    if (!rows)
        return tl::unexpected(rows.error());
    rows->bind(0, place.row);
    const auto found = rows->next();
    if (!found)
        return tl::unexpected(found.error());
    if (!*found)
        return tl::unexpected(gone(m_file, place));
    SliceDetails details;
    const std::vector<std::string> columns = rows->columnNames();
    for (int i = 0; i < static_cast<int>(columns.size()); ++i) {
        if (rows->isNull(i))
            continue;
        const std::string& column = columns[static_cast<std::size_t>(i)];
        std::string value(rows->text(i));
        const auto id = rows->integer(i);
        for (const Meaning& meaning : kMeanings)
            if (id && meaning.column == column)
                if (std::string words = lookedUp(meaning.table, meaning.words, *id); !words.empty())
                    value = std::move(words);
        details.emplace_back(column, std::move(value));
    }
    return details;
}

} // namespace profiler::formats::nsys
