#include "profiler/formats/nsys/export_rows.h"

#include "profiler/model/number_text.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <initializer_list>
#include <tuple>
#include <vector>

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

struct Wording {
    Message (*make)(std::initializer_list<MessageParameter>);
    bool dropped = false;
};

constexpr std::array<Wording, static_cast<std::size_t>(Loss::Count)> kWordings = {{
    {message<"nsys.loss.no_launch",
             "{count} device {count|operation has|operations have} no launch in the file ({count||the first in "
             "}{table}, row {row}).">},
    {message<"nsys.loss.no_time",
             "{count} {count|row|rows} without a timestamp {count|was|were} skipped ({count||the first in }{table}, "
             "row {row}).">,
     true},
    {message<"nsys.loss.far_time",
             "{count} {count|row with a timestamp|rows with timestamps} more than 30 days away from the others "
             "{count|was|were} skipped ({count||the first in }{table}, row {row}).">,
     true},
    {message<"nsys.loss.no_place",
             "{count} {count|row|rows} with an invalid device or stream number {count|was|were} skipped ({count||the "
             "first in }{table}, row {row}).">,
     true},
    {message<"nsys.loss.negative_time",
             "{count} {count|row has a negative timestamp and is|rows have negative timestamps and are} shown before "
             "the start of the recording ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.backwards",
             "{count} {count|row ends before it starts and is|rows end before they start and are} shown with zero "
             "duration ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.open",
             "{count} {count|range has no end and is|ranges have no end and are} shown as open ({count||the first in "
             "}{table}, row {row}).">},
    {message<"nsys.loss.no_name",
             "{count} {count|row has a name id that is missing from the file and is|rows have name ids that are "
             "missing from the file and are} shown without a name ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.negative_bytes",
             "{count} {count|row has a negative number of bytes, which was|rows have negative numbers of bytes, "
             "which were} ignored ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.shared_call",
             "{count} {count|call has the same correlation id as|calls have the same correlation ids as} other calls "
             "of the process; device work is connected to only one of them ({count||the first in }{table}, row "
             "{row}).">},
    {message<"nsys.loss.doubled",
             "{count} device {count|operation is|operations are} in the file twice, with the same stream, times, "
             "name and launch, and {count|counts|count} twice ({count||the first in }{table}, row {row}).">},
    {message<"nsys.loss.overlapping",
             "{count} {count|slice ends after the slice that it starts in and is|slices end after the slices that "
             "they start in and are} shown one row deeper ({count||the first in }{table}, row {row}).">},
}};

/// Ids have 32 bits and restart after the last one. No process makes that many calls in an hour.
constexpr std::int64_t kSoonestReuse = 3600;

struct Repeats {
    std::uint64_t count = 0, first = 0;

    void add(std::uint64_t place) { first = count++ == 0 ? place : std::min(first, place); }
    void report(Losses& losses, Loss loss) const
    {
        const Place place = placeFrom(first);
        losses.add(loss, tableOf(place.source), place.row, count);
    }
};

/// Counts device work whose call is not in the file, if the file has calls at all. `called` must be sorted.
void countUnmatched(Import& import)
{
    if (import.called.empty())
        return;
    const auto before = [](const Call& call, std::int64_t link) { return call.link < link; };
    for (const Work& work : import.worked) {
        const auto call = std::lower_bound(import.called.begin(), import.called.end(), work.link, before);
        if (work.link == 0 || (call != import.called.end() && call->link == work.link))
            continue;
        const Place place = placeFrom(work.place);
        import.losses.add(Loss::NoLaunch, tableOf(place.source), place.row);
    }
}

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

void Losses::add(Loss loss, std::string_view table, std::int64_t row, std::uint64_t count)
{
    Met& met = m_met[static_cast<std::size_t>(loss)];
    if (met.count == 0 && count > 0) {
        met.table = table;
        met.row = row;
    }
    met.count += count;
}

void Losses::report(CaptureStats& stats) const
{
    for (std::size_t i = 0; i < m_met.size(); ++i) {
        const Met& met = m_met[i];
        if (met.count == 0)
            continue;
        const Wording& wording = kWordings[i];
        stats.dropped += wording.dropped ? met.count : 0;
        stats.notes.push_back(
            wording.make({{"count", met.count, countText(met.count)}, {"table", met.table}, {"row", met.row}}));
    }
    stats.unmatched += m_met[static_cast<std::size_t>(Loss::NoLaunch)].count;
    stats.dropped += lost;
    for (const Error& damage : damaged)
        stats.notes.push_back(message<"nsys.read_in_part", "The file was only partly read: {why}">(
            {{"why", damage.message()}, {"error", damage.what.id}}));
}

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

void checkCorrelations(Import& import)
{
    auto& called = import.called;
    auto& worked = import.worked;
    std::sort(called.begin(), called.end(), [](const Call& a, const Call& b) {
        return std::tuple(a.link, +a.driver, +a.place) < std::tuple(b.link, +b.driver, +b.place);
    });
    Repeats shared, doubled;
    for (std::size_t i = 1; i < called.size(); ++i) {
        const Call &last = called[i - 1], &call = called[i];
        const auto apart = static_cast<std::int64_t>(call.second) - static_cast<std::int64_t>(last.second);
        if (call.link == last.link && call.driver == last.driver && std::abs(apart) < kSoonestReuse)
            shared.add(call.place);
    }
    shared.report(import.losses, Loss::SharedCall);
    countUnmatched(import);
    std::sort(worked.begin(), worked.end(),
              [](const Work& a, const Work& b) { return std::tie(a.print, a.place) < std::tie(b.print, b.place); });
    for (std::size_t i = 1; i < worked.size(); ++i)
        if (worked[i].print == worked[i - 1].print)
            doubled.add(worked[i].place);
    doubled.report(import.losses, Loss::Doubled);
}

} // namespace profiler::formats::nsys
