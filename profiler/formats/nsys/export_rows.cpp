#include "profiler/formats/nsys/export_rows.h"

#include <algorithm>
#include <fmt/format.h>

namespace profiler::formats::nsys {

namespace {

constexpr int kRowBits = 36;
constexpr std::array<std::string_view, kSources> kTables = {
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "CUPTI_ACTIVITY_KIND_OVERHEAD",
    "PROFILER_OVERHEAD",
    "NVTX_EVENTS",
    "OSRT_API",
    "CUBLAS_EVENTS",
    "CUDNN_EVENTS",
};

} // namespace

std::string_view tableOf(Source source)
{
    return kTables[static_cast<std::size_t>(source)];
}

std::uint64_t placeOf(Source source, std::int64_t row)
{
    if (row < 0 || row >> kRowBits != 0)
        return 0;
    // Table 0 is stored as 1, so that row 0 of it differs from "no place".
    return (static_cast<std::uint64_t>(source) + 1) << kRowBits | static_cast<std::uint64_t>(row);
}

Place placeFrom(std::uint64_t place)
{
    const std::uint64_t table = std::clamp<std::uint64_t>(place >> kRowBits, 1, kSources) - 1;
    return {static_cast<Source>(table), static_cast<std::int64_t>(place & ((std::uint64_t{1} << kRowBits) - 1))};
}

Result<void> forEachRow(Import& import, std::string_view table, const std::vector<std::string_view>& columns,
                        const std::function<void(const Rows&)>& visit, const std::string& clause)
{
    if (!import.schema.has(table))
        return {};
    auto rows = import.schema.select(import.file, table, columns, clause);
    std::int64_t count = 0;
    if (!rows && rows.error().code == Error::Code::Cancelled)
        return tl::unexpected(rows.error());
    Result<bool> more = rows ? rows->next() : tl::unexpected(rows.error());
    for (; more && *more; more = rows->next()) {
        visit(*rows);
        ++count;
        if (import.rowRead)
            import.rowRead();
    }
    if (clause.empty())
        import.rows[std::string(table)] = count;
    if (more)
        return {};
    if (more.error().code != Error::Code::Malformed)
        return tl::unexpected(more.error());
    import.losses.damaged.push_back(more.error());
    return {};
}

std::optional<RawSlice> timed(Import& import, const Rows& row, Source source, bool instant)
{
    const auto lose = [&](Loss loss) { import.losses.add(loss, tableOf(source), row.integer(0).value_or(-1)); };
    const auto begin = row.integer(1);
    const auto end = row.integer(2);
    // A range that was not closed has no end. Any other value that is not an integer is not a timestamp.
    if (!begin || (!end && !row.isNull(2))) {
        lose(Loss::NoTime);
        return std::nullopt;
    }
    // Exports of 2021 write 0 or -1 as the end of an NVTX range that was not closed.
    const bool open = !instant && (!end || (source == Source::Nvtx && *end <= 0 && *begin > 0));
    const std::int64_t last = open || instant ? *begin : end.value_or(*begin);
    // A foreign file may contain any timestamp. Within the window, differences do not overflow.
    if (!import.window.holds(*begin) || !import.window.holds(last)) {
        lose(Loss::FarTime);
        return std::nullopt;
    }
    if (*begin < 0)
        lose(Loss::NegativeTime);
    if (last < *begin)
        lose(Loss::Backwards);
    RawSlice slice;
    slice.begin = *begin;
    slice.duration = last - *begin;
    slice.depth = 0;
    if (open) {
        lose(Loss::Open);
        slice.flags = slice_flag::kOpen;
    } else {
        import.lastTime = std::max({import.lastTime, *begin, last});
    }
    slice.clampTimes();
    slice.setSource(placeOf(source, row.integer(0).value_or(-1)));
    return slice;
}

std::uint32_t named(Import& import, const Rows& row, int column, std::string_view table)
{
    const auto id = row.integer(column);
    if (!id)
        return 0;
    const StringId name = import.strings.at(*id);
    if (import.strings.lacks(*id))
        import.losses.add(Loss::NoName, table, row.integer(0).value_or(-1));
    return name.value;
}

} // namespace profiler::formats::nsys
