#include "profiler/formats/nsys/time_window.h"

#include <algorithm>
#include <vector>

namespace profiler::formats::nsys {

std::int64_t rowsOf(const SqliteFile& file, std::string_view table)
{
    auto rows = file.select("SELECT max(rowid) FROM " + identifier(table), std::string(table));
    if (!rows)
        return 0;
    const auto found = rows->next();
    constexpr std::int64_t kMost = std::int64_t{1} << 48;
    return found && *found ? std::clamp<std::int64_t>(rows->integer(0).value_or(0), 0, kMost) : 0;
}

TimeWindow TimeWindow::of(const SqliteFile& file, const ExportSchema& schema, std::span<const std::string_view> tables)
{
    constexpr std::int64_t kSamples = 32; // per table
    std::vector<std::int64_t> starts;
    for (const std::string_view table : tables) {
        if (!schema.has(table, "start"))
            continue;
        auto rows =
            file.select("SELECT start FROM " + identifier(table) + " WHERE rowid >= ?1 LIMIT 1", std::string(table));
        const std::int64_t count = rowsOf(file, table);
        for (std::int64_t i = 0; rows && i < std::min(kSamples, count); ++i) {
            rows->reset();
            rows->bind(0, 1 + count / std::min(kSamples, count) * i);
            const auto found = rows->next();
            const auto start = found && *found ? rows->integer(0) : std::nullopt;
            if (start)
                starts.push_back(*start);
        }
    }
    if (starts.empty())
        return {};
    const auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
    std::nth_element(starts.begin(), middle, starts.end());
    const std::int64_t limit = RawSlice::kTimeLimit, centre = std::clamp(*middle, -limit, limit);
    return {std::max(centre - kReach, -limit), std::min(centre + kReach, limit)};
}

} // namespace profiler::formats::nsys
