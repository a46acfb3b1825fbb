#include "profiler/formats/nsys/read_export.h"

#include "profiler/formats/container/spill_file.h"
#include "profiler/formats/nsys/export_rows.h"
#include "profiler/formats/nsys/row_details.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>

namespace profiler::formats::nsys {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenReports = std::chrono::milliseconds(40);
constexpr std::int64_t kRowsBetweenLooks = 1024;

/// Number of rows in all tables of events; a damaged table counts as far as it could be read. Adds a note about tables
/// that no reader supports.
std::int64_t countEvents(const Import& import)
{
    std::int64_t sum = 0;
    for (const std::string& table : import.schema.eventTables()) {
        if (const auto read = import.rows.find(table); read != import.rows.end()) {
            sum += read->second;
            continue;
        }
        auto rows = import.file.select("SELECT count(*) FROM " + identifier(table), table);
        if (!rows)
            continue;
        const auto found = rows->next();
        const std::int64_t count = found && *found ? rows->integer(0).value_or(0) : 0;
        sum += count;
        if (count > 0)
            import.builder.captureStats().notes.push_back(message<"nsys.table_not_shown",
                                                                  "{rows} of the table {table} {count|is|are} not "
                                                                  "shown, because no view displays {count|it|them}.">(
                {{"count", count},
                 {"rows", count == 1 ? "The row" : countText(static_cast<std::uint64_t>(count)) + " rows"},
                 { "table",
                   table }}));
    }
    return sum;
}

/// The process of device work without a process id (exports of 2020): the only process that made calls.
std::int64_t onlyProcess(const Import& import)
{
    const std::string_view calls = tableOf(Source::Runtime);
    bool named = true;
    for (const Source source : {Source::Kernel, Source::Memcpy, Source::Memset, Source::GraphTrace})
        named = named && (!import.schema.has(tableOf(source)) || import.schema.has(tableOf(source), "globalPid"));
    if (named || !import.schema.has(calls, "globalTid"))
        return 0;
    auto rows = import.file.select("SELECT min(globalTid >> 24), max(globalTid >> 24) FROM " + identifier(calls),
                                   std::string(calls));
    const auto found = rows ? rows->next() : tl::unexpected(rows.error());
    if (!found || !*found || rows->integer(0) != rows->integer(1))
        return 0;
    return rows->integer(0).value_or(0) << 24;
}

TimeWindow windowOf(const SqliteFile& file, const ExportSchema& schema)
{
    std::array<std::string_view, kSources> tables;
    for (int i = 0; i < kSources; ++i)
        tables[static_cast<std::size_t>(i)] = tableOf(static_cast<Source>(i));
    return TimeWindow::of(file, schema, tables);
}

std::function<void()> progressOf(const SqliteFile& file, const ReadOptions& options)
{
    if (!options.progress)
        return {};
    std::int64_t all = 0;
    for (int i = 0; i < kSources; ++i)
        all += rowsOf(file, tableOf(static_cast<Source>(i)));
    return [=, done = std::int64_t{0}, last = Clock::now(), report = options.progress]() mutable {
        if (++done % kRowsBetweenLooks != 0 || Clock::now() - last < kBetweenReports)
            return;
        last = Clock::now();
        report(std::min(1.0, static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(all, 1))));
    };
}

void noteLosses(Import& import)
{
    CaptureStats& stats = import.builder.captureStats();
    checkCorrelations(import);
    for (const TrackId track : import.tracks.nesting()) {
        const Overlaps overlaps = import.builder.overlaps(track);
        const Place place = placeFrom(overlaps.first);
        import.losses.add(Loss::Overlapping, tableOf(place.source), place.row, overlaps.count);
    }
    import.losses.report(stats);
    stats.cut = import.file.isCut();
}

Error nothingRead(const SqliteFile& file, const Losses& losses)
{
    return {.code = Error::Code::Malformed,
            .what = losses.damaged.empty()
                        ? message<"nsys.cut", "the file is truncated and contains no complete event">()
                        : losses.damaged.front().asMessage(),
            .where = file.path().string(),
            .hint = "export the report again: nsys export --type sqlite REPORT.nsys-rep"};
}

Result<void> readTables(Import& import)
{
    for (const auto read : {readDescription, readDeviceWork, readHostCalls, readNvtx, readMemoryUse, readMetrics})
        if (auto done = read(import); !done)
            return done;
    return {};
}

} // namespace

Result<std::shared_ptr<const Trace>> readExport(const std::filesystem::path& path, const ReadOptions& options)
{
    const auto file = SqliteFile::open(path, options.stop);
    if (!file)
        return tl::unexpected(file.error());
    auto schema = ExportSchema::read(*file);
    if (!schema)
        return tl::unexpected(schema.error());
    TraceBuilder builder;
    builder.setFormat("nsys-sqlite");
    container::spillBeyond(builder, options.memoryBudget);
    auto strings = ExportStrings::open(*file, *schema, builder);
    const auto enums = ExportEnums::read(*file, *schema);
    if (!strings || !enums)
        return tl::unexpected(strings ? enums.error() : strings.error());
    ExportTracks tracks(builder, *strings);
    if (auto named = tracks.readNames(*file, *schema); !named)
        return tl::unexpected(named.error());

    Import import{.file = *file,
                  .schema = *schema,
                  .builder = builder,
                  .strings = *strings,
                  .enums = *enums,
                  .tracks = tracks,
                  .window = windowOf(*file, *schema),
                  .losses = {},
                  .rowRead = progressOf(*file, options),
                  .rows = {},
                  .waits = {},
                  .called = {},
                  .worked = {},
                  .process = 0};
    import.process = onlyProcess(import);
    if (auto read = readTables(import); !read)
        return tl::unexpected(read.error());
    tracks.finish(import.lastTime);
    builder.seal(options.threads, options.stop);
    noteLosses(import);
    builder.setMetadata("source.events", std::to_string(countEvents(import)));
    if (auto details = RowDetails::open(path, *schema))
        builder.setArgSource(std::move(*details));
    auto trace = builder.finish(options.threads, options.stop);
    if (!trace)
        return fail<"open.cancelled", "opening the file was cancelled">(Error::Code::Cancelled, path.string());
    if (trace->sliceCount() == 0 && (file->isCut() || !import.losses.damaged.empty()))
        return tl::unexpected(nothingRead(*file, import.losses));
    if (options.progress)
        options.progress(1);
    return trace;
}

} // namespace profiler::formats::nsys
