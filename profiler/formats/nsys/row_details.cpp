#include "profiler/formats/nsys/row_details.h"

#include "profiler/formats/nsys/export_rows.h"

#include <array>
#include <utility>

namespace profiler::formats::nsys {

namespace {

/// Columns whose numbers have a text.
struct Meaning {
    std::string_view column, table, texts; ///< texts: the column of the table that contains them
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
    return makeError<"nsys.row_gone", "the table row of this slice is no longer in the file">(
        Error::Code::NotFound,
        file.path().string() + ", table " + std::string(tableOf(place.source)) + ", row " + std::to_string(place.row),
        "open the file again");
}

constexpr std::size_t kMostTexts = 100'000; ///< cached texts; the cache is cleared when it is full

} // namespace

Result<std::unique_ptr<RowDetails>> RowDetails::open(const std::filesystem::path& path, ExportSchema schema)
{
    auto file = SqliteFile::open(path, {});
    if (!file)
        return tl::unexpected(file.error());
    return std::unique_ptr<RowDetails>(new RowDetails(std::move(*file), std::move(schema)));
}

std::string RowDetails::lookedUp(std::size_t meaning, std::int64_t id) const
{
    if (const auto known = m_texts.find({meaning, id}); known != m_texts.end())
        return known->second;
    const auto& [column, table, texts] = kMeanings[meaning];
    if (!m_schema.has(table, texts))
        return {};
    auto rows = m_file.select("SELECT " + identifier(texts) + " FROM " + identifier(table) + " WHERE id = ?1",
                              std::string(table));
    if (!rows)
        return {};
    rows->bind(0, id);
    if (const auto found = rows->next(); !found || !*found)
        return {};
    if (m_texts.size() >= kMostTexts)
        m_texts.clear();
    return m_texts.insert_or_assign({meaning, id}, std::string(rows->text(0))).first->second;
}

Result<SliceDetails> RowDetails::read(std::uint64_t source) const
{
    const Place place = placeFrom(source);
    const std::string table(tableOf(place.source));
    const std::lock_guard lock(m_mutex);
    auto known = m_rows.find(table);
    if (known == m_rows.end()) {
        auto selected = m_file.select("SELECT * FROM " + identifier(table) + " WHERE rowid = ?1", table);
        if (!selected)
            return tl::unexpected(selected.error());
        known = m_rows.emplace(table, std::move(*selected)).first;
    }
    Rows* const rows = &known->second;
    rows->reset();
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
        for (std::size_t meaning = 0; id && meaning < kMeanings.size(); ++meaning)
            if (kMeanings[meaning].column == column)
                if (std::string text = lookedUp(meaning, *id); !text.empty())
                    value = std::move(text);
        details.emplace_back(column, std::move(value));
    }
    return details;
}

} // namespace profiler::formats::nsys
