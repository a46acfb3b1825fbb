#include "profiler/formats/nsys/read_export.h"

#include "profiler/formats/container/spill_file.h"
#include "profiler/formats/nsys/export_rows.h"
#include "profiler/model/number_text.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profiler::formats::nsys {

namespace {

// The profiler may repeat a message thousands of times; each message is reported once.
constexpr std::size_t kMostNotes = 20;

/// "13000" as "13.0".
std::string cudaVersion(std::string_view number)
{
    int value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    return value >= 1000 ? fmt::format("{}.{}", value / 1000, value % 1000 / 10) : std::string(number);
}

/// A version from an environment variable of a container image: "NV_CUDNN_VERSION=9.1.0.70-1;…".
std::string environmentVersion(std::string_view environment, std::string_view variable)
{
    const std::string key = std::string(variable) + "=";
    std::size_t at = environment.find(key);
    while (at != environment.npos && at != 0 && environment[at - 1] != ';')
        at = environment.find(key, at + 1);
    if (at == environment.npos)
        return {};
    const std::string_view value = environment.substr(at + key.size());
    return std::string(value.substr(0, value.find(';')));
}

void readEnvironment(Import& import, std::string_view name, std::string_view value)
{
    if (name == "CudaDriverVersion")
        import.builder.setMetadata("versions.cuda_driver", cudaVersion(value));
    else if (name == "NvDriverVersion")
        import.builder.setMetadata("versions.nvidia_driver", std::string(value));
    else if (name == "CpuCores")
        import.builder.setMetadata("host.cores", std::string(value));
    else if (name == "Hostname")
        import.builder.setMetadata("host.name", std::string(value));
    else if (name == "DeviceEnvironment") {
        struct Variable {
            std::string_view name, key;
        };
        for (const Variable& variable :
             {Variable{"CUDA_VERSION", "versions.cuda_runtime"}, Variable{"NV_CUDNN_VERSION", "versions.cudnn"},
              Variable{"NV_LIBNCCL_PACKAGE_VERSION", "versions.nccl"}, Variable{"PYTORCH_VERSION", "versions.torch"}})
            if (std::string version = environmentVersion(value, variable.name); !version.empty())
                import.builder.setMetadata(std::string(variable.key), std::move(version));
    }
}

/// The number of events that the profiler reports as dropped or lost: "Number of dropped events: 12".
std::uint64_t lostIn(std::string_view message)
{
    const std::string text = lowerCase(message);
    if (text.find("dropped") == text.npos && text.find("lost") == text.npos)
        return 0;
    const auto digit = std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
    std::uint64_t number = 0;
    std::from_chars(std::to_address(digit), text.data() + text.size(), number);
    return number;
}

Result<void> readDiagnostics(Import& import)
{
    std::vector<Message> said;
    return forEachRow(import, "DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const Rows& row) {
        const auto severity = import.enums.severities.find(row.integer(1).value_or(-1));
        const std::string name =
            severity == import.enums.severities.end() ? std::string() : lowerCase(severity->second);
        if (name != "warning" && name != "error")
            return;
        const Message note = message<"nsys.diagnostic", "Nsight Systems, {severity}: {said}">(
            {{"severity", name}, {"said", row.text(2)}});
        import.losses.lost += lostIn(row.text(2));
        if (said.size() < kMostNotes && std::find(said.begin(), said.end(), note) == said.end()) {
            said.push_back(note);
            import.builder.captureStats().notes.push_back(note);
        }
    });
}

/// Versions, times and losses reported by the profiler, as metadata and notes.
Result<void> readDescription(Import& import)
{
    auto done = forEachRow(import, "TARGET_INFO_SYSTEM_ENV", {"name", "value"},
                           [&](const Rows& row) { readEnvironment(import, row.text(1), row.text(2)); });
    if (!done)
        return done;
    done = forEachRow(import, "META_DATA_EXPORT", {"name", "value"}, [&](const Rows& row) {
        if (row.text(1) == "EXPORT_PRODUCT_VERSION")
            import.builder.setMetadata("versions.nsys", std::string(row.text(2)));
        else if (row.text(1) == "EXPORT_SCHEMA_VERSION")
            import.builder.setMetadata("nsys.schema", std::string(row.text(2)));
    });
    if (!done)
        return done;
    done = forEachRow(import, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [&](const Rows& row) {
        if (const auto utc = row.integer(1))
            import.builder.setMetadata("start.utc_ns", std::to_string(*utc));
    });
    return done ? readDiagnostics(import) : done;
}

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

/// Reads every column of the row of a slice on demand; string ids and enumeration values are replaced by their texts.
class RowDetails final : public ArgSource {
public:
    /// Opens a separate connection to the file.
    static Result<std::unique_ptr<RowDetails>> open(const std::filesystem::path& path, ExportSchema schema);
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override;

private:
    RowDetails(SqliteFile file, ExportSchema schema) : m_file(std::move(file)), m_schema(std::move(schema)) {}
    /// Empty if the file has no text for it.
    [[nodiscard]] std::string lookedUp(std::size_t meaning, std::int64_t id) const;

    mutable std::mutex m_mutex; ///< serializes the use of the connection; no other lock is taken while it is held
    SqliteFile m_file;
    ExportSchema m_schema;
    mutable std::map<std::string, Rows, std::less<>> m_rows; ///< by table: a prepared statement for one row
    mutable std::map<std::pair<std::size_t, std::int64_t>, std::string> m_texts; ///< cache by meaning and number
};

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
