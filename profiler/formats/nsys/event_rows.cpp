#include "profiler/formats/nsys/export_rows.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <xxhash.h>

namespace profiler::formats::nsys {

namespace {

// Columns of every table of host events after its row id, start and end.
enum : int { kGlobalId = 3, kCallCorrelation, kCallOwn };

/// Waits are read first; the runtime calls that are read later provide their threads.
Result<void> readSynchronization(Import& import)
{
    const std::vector<std::string_view> columns = {"start",         "end",      "globalPid",
                                                   "correlationId", "syncType", "streamId"};
    return forEachRow(import, tableOf(Source::Synchronization), columns, [&](const Rows& row) {
        auto slice = timed(import, row, Source::Synchronization);
        if (!slice)
            return;
        const std::int64_t pid = row.integer(kGlobalId).value_or(import.process),
                           type = row.integer(kCallOwn).value_or(0);
        const auto label = import.enums.syncTypes.find(type);
        slice->kind = import.enums.isStreamWait(type) ? ActivityKind::Other : ActivityKind::Sync;
        slice->name =
            import.strings.intern(label == import.enums.syncTypes.end() ? "Synchronization" : label->second).value;
        if (const auto stream = row.integer(kCallOwn + 1); stream && *stream >= 0 && *stream < 0xffffffff) {
            SliceArgs args;
            args.stream = StreamId{static_cast<std::uint32_t>(*stream)};
            slice->args = import.builder.internArgs(args);
        }
        slice->link = import.tracks.correlation(pid, row.integer(kCallCorrelation).value_or(0));
        if (slice->link != 0)
            import.waits[slice->link].push_back(*slice);
        else
            import.tracks.add(import.tracks.mainThread(pid), *slice);
    });
}

bool isDriver(const Import& import, const Rows& row, std::string_view name)
{
    if (name.starts_with("cuda"))
        return false;
    const auto named = import.enums.eventClasses.find(row.integer(kCallOwn + 1).value_or(-1));
    return named != import.enums.eventClasses.end() ? named->second.find("DRIVER") != std::string::npos
                                                    : name.starts_with("cu");
}

Result<void> readCalls(Import& import)
{
    const std::vector<std::string_view> columns = {"start",         "end",    "globalTid",
                                                   "correlationId", "nameId", "eventClass"};
    return forEachRow(import, tableOf(Source::Runtime), columns, [&](const Rows& row) {
        auto slice = timed(import, row, Source::Runtime);
        if (!slice)
            return;
        const std::int64_t tid = row.integer(kGlobalId).value_or(0);
        named(import, row, kCallOwn, tableOf(Source::Runtime));
        slice->name = import.strings.callAt(row.integer(kCallOwn).value_or(-1)).value;
        slice->kind = isDriver(import, row, import.strings.text(StringId{slice->name})) ? ActivityKind::CudaDriver
                                                                                        : ActivityKind::CudaRuntime;
        slice->link = import.tracks.correlation(tid, row.integer(kCallCorrelation).value_or(0));
        const TrackId thread = import.tracks.thread(tid);
        import.tracks.add(thread, *slice);
        if (slice->link == 0)
            return;
        import.called.push_back({.link = slice->link,
                                 .place = slice->source(),
                                 .driver = slice->kind == ActivityKind::CudaDriver,
                                 .second = static_cast<std::uint64_t>(slice->begin / 1'000'000'000) & 0x7fffff});
        if (const auto waits = import.waits.find(slice->link); waits != import.waits.end()) {
            for (const RawSlice& wait : waits->second)
                import.tracks.add(thread, wait);
            import.waits.erase(waits);
        }
    });
}

/// Waits whose call is not in the file go to the main thread of their process, because the waiting thread is unknown.
void placeOtherWaits(Import& import)
{
    for (const auto& [correlation, waits] : import.waits)
        for (const RawSlice& wait : waits)
            import.tracks.add(import.tracks.mainThreadOf(correlation), wait);
    import.waits.clear();
}

Result<void> readNamed(Import& import, Source source, ActivityKind kind, std::string_view typeColumn = {})
{
    std::vector<std::string_view> columns = {"start", "end", "globalTid", "correlationId", "nameId"};
    if (!typeColumn.empty())
        columns.push_back(typeColumn);
    return forEachRow(import, tableOf(source), columns, [&](const Rows& row) {
        auto slice = timed(import, row, source);
        if (!slice)
            return;
        const std::int64_t tid = row.integer(kGlobalId).value_or(0);
        slice->kind = kind;
        slice->name = named(import, row, kCallOwn, tableOf(source));
        const auto type = typeColumn.empty() ? std::nullopt : row.integer(kCallOwn + 1);
        const auto label = import.enums.overheadTypes.find(type.value_or(-1));
        if (slice->name == 0 && label != import.enums.overheadTypes.end())
            slice->name = import.strings.intern(label->second).value;
        import.tracks.add(import.tracks.thread(tid), *slice);
    });
}

// Columns of every table of device work after its row id, start and end.
enum : int { kDevice = 3, kContext, kStream, kCorrelation, kGlobalPid, kGraphNode, kFirstOwn };
const std::vector<std::string_view> kCommon = {"start",    "end",           "deviceId",  "contextId",
                                               "streamId", "correlationId", "globalPid", "graphNodeId"};

std::vector<std::string_view> withOwn(std::initializer_list<std::string_view> own)
{
    std::vector<std::string_view> columns = kCommon;
    columns.insert(columns.end(), own);
    return columns;
}

std::uint64_t printOf(std::initializer_list<std::int64_t> values)
{
    return XXH3_64bits(values.begin(), values.size() * sizeof(std::int64_t));
}

/// Adds a row of device work. `describe` sets its name, kind and arguments.
template <class Describe>
Result<void> readTable(Import& import, Source source, const std::vector<std::string_view>& columns, Describe&& describe)
{
    return forEachRow(import, tableOf(source), columns, [&](const Rows& row) {
        auto slice = timed(import, row, source);
        if (!slice)
            return;
        const StreamPlace place{.globalPid = row.integer(kGlobalPid).value_or(import.process),
                                .device = row.integer(kDevice).value_or(0),
                                .context = row.integer(kContext).value_or(0),
                                .stream = row.integer(kStream).value_or(0)};
        if (!place.canBe()) {
            import.losses.add(Loss::NoPlace, tableOf(source), row.integer(0).value_or(-1));
            return;
        }
        const std::int64_t pid = place.globalPid;
        slice->link = import.tracks.correlation(pid, row.integer(kCorrelation).value_or(0));
        describe(row, *slice);
        import.worked.push_back(
            {slice->link, slice->source(),
             printOf({static_cast<std::int64_t>(source), pid, place.device, place.context, place.stream, slice->begin,
                      slice->duration, slice->link, slice->name, slice->args, row.integer(kGraphNode).value_or(0)})});
        import.tracks.add(import.tracks.stream(place), *slice);
    });
}

// The columns of a kernel's launch, after those of its name.
enum : int { kGrid = kFirstOwn + 3, kBlock = kGrid + 3, kRegisters = kBlock + 3, kStatic, kDynamic, kLocal };

LaunchConfig launchOf(const Rows& row)
{
    const auto figure = [&](int column) -> std::optional<std::uint32_t> {
        const auto value = row.integer(column);
        if (!value || *value < 0 || *value > std::numeric_limits<std::uint32_t>::max())
            return std::nullopt;
        return static_cast<std::uint32_t>(*value);
    };
    const auto sizes = [&](int column) {
        const auto x = figure(column), y = figure(column + 1), z = figure(column + 2);
        return x && y && z ? std::array{*x, *y, *z} : std::array<std::uint32_t, 3>{};
    };
    LaunchConfig launch;
    launch.grid = sizes(kGrid);
    launch.block = sizes(kBlock);
    if (const auto registers = figure(kRegisters); registers && *registers > 0)
        launch.registers = registers;
    const auto fixed = figure(kStatic), dynamic = figure(kDynamic);
    constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
    if (fixed && dynamic && *fixed <= kMost - *dynamic)
        launch.sharedMemory = *fixed + *dynamic;
    launch.dynamicSharedMemory = dynamic;
    launch.localMemory = figure(kLocal);
    return launch;
}

Result<void> readKernels(Import& import)
{
    const auto columns =
        withOwn({"demangledName", "shortName", "mangledName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
                 "registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread"});
    return readTable(import, Source::Kernel, columns, [&](const Rows& row, RawSlice& slice) {
        slice.kind = ActivityKind::Kernel;
        SliceArgs args;
        args.launch = import.builder.internLaunch(launchOf(row));
        slice.args = import.builder.internArgs(args);
        bool lacks = false;
        for (int column = kFirstOwn; column < kFirstOwn + 3 && slice.name == 0; ++column)
            if (const auto id = row.integer(column)) {
                slice.name = import.strings.at(*id).value;
                lacks = lacks || import.strings.lacks(*id);
            }
        if (slice.name == 0 && lacks)
            import.losses.add(Loss::NoName, tableOf(Source::Kernel), row.integer(0).value_or(-1));
    });
}

std::int64_t bytesOf(Import& import, const Rows& row, Source source)
{
    const std::int64_t bytes = row.integer(kFirstOwn).value_or(0);
    if (bytes < 0)
        import.losses.add(Loss::NegativeBytes, tableOf(source), row.integer(0).value_or(-1));
    return std::max<std::int64_t>(bytes, 0);
}

Result<void> readCopies(Import& import)
{
    const auto columns = withOwn({"bytes", "copyKind", "srcKind", "dstKind"});
    return readTable(import, Source::Memcpy, columns, [&](const Rows& row, RawSlice& slice) {
        SliceArgs args;
        args.bytes = bytesOf(import, row, Source::Memcpy);
        if (const auto kind = row.integer(kFirstOwn + 1))
            args.copy = import.enums.copy(*kind);
        if (const auto kind = row.integer(kFirstOwn + 2))
            args.src = import.enums.memory(*kind);
        if (const auto kind = row.integer(kFirstOwn + 3))
            args.dst = import.enums.memory(*kind);
        if (import.enums.managedCopies.contains(row.integer(kFirstOwn + 1).value_or(-1)))
            for (MemoryKind* const kind : {&args.src, &args.dst})
                if (*kind == MemoryKind::Unknown)
                    *kind = MemoryKind::Managed;
        slice.kind = ActivityKind::GpuMemcpy;
        slice.args = import.builder.internArgs(args);
        // Uses the wording of the PyTorch profiler, so that searches work for both formats.
        slice.name = import.strings
                         .intern(fmt::format("Memcpy {} ({} -> {})", copyKindName(args.copy), memoryKindName(args.src),
                                             memoryKindName(args.dst)))
                         .value;
    });
}

Result<void> readMemsets(Import& import)
{
    const auto columns = withOwn({"bytes", "memKind"});
    return readTable(import, Source::Memset, columns, [&](const Rows& row, RawSlice& slice) {
        SliceArgs args;
        args.bytes = bytesOf(import, row, Source::Memset);
        if (const auto kind = row.integer(kFirstOwn + 1))
            args.dst = import.enums.memory(*kind);
        slice.kind = ActivityKind::GpuMemset;
        slice.args = import.builder.internArgs(args);
        slice.name = import.strings.intern(fmt::format("Memset ({})", memoryKindName(args.dst))).value;
    });
}

/// CUDA graphs that were traced as a whole: one record for all kernels of a graph. Each becomes a kernel, because it is
/// device work.
Result<void> readGraphs(Import& import)
{
    const auto columns = withOwn({"graphId"});
    return readTable(import, Source::GraphTrace, columns, [&](const Rows& row, RawSlice& slice) {
        slice.kind = ActivityKind::Kernel;
        slice.name = import.strings.intern(fmt::format("CUDA graph {}", row.integer(kFirstOwn).value_or(0))).value;
    });
}

/// An allocation, or a deallocation if negative.
struct MemoryChange {
    TrackId counter;
    std::int64_t time = 0;
    double bytes = 0;
};

/// Pinned host memory does not count as device memory.
std::string counterOf(MemoryKind kind)
{
    switch (kind) {
    case MemoryKind::Pinned:
    case MemoryKind::Pageable:
        return fmt::format("{} host memory", memoryKindName(kind));
    case MemoryKind::Managed:
        return "managed memory";
    default:
        return "memory";
    }
}

/// Adds running sums. What was allocated before the recording started is unknown, so each sum starts at the smallest
/// value that keeps it from becoming negative.
void addSums(TraceBuilder& builder, std::vector<MemoryChange> changes)
{
    std::stable_sort(changes.begin(), changes.end(), [](const MemoryChange& a, const MemoryChange& b) {
        return std::tie(a.counter, a.time) < std::tie(b.counter, b.time);
    });
    for (std::size_t first = 0, end = 0; first < changes.size(); first = end) {
        double sum = 0, least = 0;
        for (; end < changes.size() && changes[end].counter == changes[first].counter; ++end) {
            sum += changes[end].bytes;
            least = std::min(least, sum);
        }
        sum = -least;
        for (std::size_t i = first; i < end; ++i) {
            sum += changes[i].bytes;
            builder.addSample(changes[i].counter, {traceTime(changes[i].time), sum});
        }
    }
}

// Columns of NVTX events after the row id, start and end.
enum : int { kType = 3, kText, kTextId, kTid, kEndTid, kDomain };
const std::vector<std::string_view> kNvtxColumns = {"start",  "end",       "eventType",    "text",
                                                    "textId", "globalTid", "endGlobalTid", "domainId"};

std::string_view nameOf(Import& import, const Rows& row)
{
    // Exports of 2021 have an empty text in addition to the id.
    if (const std::string_view text = row.isNull(kText) ? std::string_view() : row.text(kText); !text.empty())
        return text;
    const auto id = row.integer(kTextId);
    return id ? import.strings.text(import.strings.at(*id)) : std::string_view();
}

/// The range's name without the per-call suffix of torch.autograd.profiler.emit_nvtx(): "aten::mm" for "aten::mm, seq =
/// 7, op_id = 12, sizes = [[2, 3]]". The details keep the whole text.
std::string_view withoutOperands(std::string_view text)
{
    for (const std::string_view mark : {", seq = ", ", op_id = ", ", sizes = "})
        if (const std::size_t at = text.find(mark); at != text.npos && at > 0)
            text = text.substr(0, at);
    return text;
}

/// Domain names are events among the others, and not always before the first range of the domain.
Result<void> readDomains(Import& import)
{
    for (const auto& [value, name] : import.enums.eventTypes) {
        if (name != "NvtxDomainCreate" || !import.schema.has(tableOf(Source::Nvtx), "eventType"))
            continue;
        auto done = forEachRow(
            import, tableOf(Source::Nvtx), kNvtxColumns,
            [&](const Rows& row) {
                import.tracks.nameDomain(row.integer(kTid).value_or(0), row.integer(kDomain).value_or(0),
                                         std::string(nameOf(import, row)));
            },
            fmt::format("WHERE eventType = {}", value));
        if (!done)
            return done;
    }
    return {};
}

bool isRange(std::string_view type)
{
    return type.ends_with("PushPopRange") || type.ends_with("StartEndRange") || type.ends_with("PushRange") ||
           type.ends_with("StartRange");
}

} // namespace

Result<void> readHostCalls(Import& import)
{
    if (auto done = readSynchronization(import); !done)
        return done;
    if (auto done = readCalls(import); !done)
        return done;
    placeOtherWaits(import);
    struct Table {
        Source source;
        ActivityKind kind;
        std::string_view typeColumn;
    };
    for (const Table& table :
         {Table{Source::Overhead, ActivityKind::Overhead, "overheadType"},
          Table{Source::ProfilerOverhead, ActivityKind::Overhead, "overheadType"},
          Table{Source::OsRuntime, ActivityKind::Other, ""}, Table{Source::Cublas, ActivityKind::Other, ""},
          Table{Source::Cudnn, ActivityKind::Other, ""}})
        if (auto done = readNamed(import, table.source, table.kind, table.typeColumn); !done)
            return done;
    return {};
}

Result<void> readDeviceWork(Import& import)
{
    for (const auto read : {readKernels, readCopies, readMemsets, readGraphs})
        if (auto done = read(import); !done)
            return done;
    return {};
}

/// Allocations and deallocations as running sums per process, device and kind of memory.
Result<void> readMemoryUse(Import& import)
{
    constexpr std::string_view kTable = "CUDA_GPU_MEMORY_USAGE_EVENTS";
    if (!import.schema.has(kTable, "memoryOperationType"))
        return {};
    std::map<std::int64_t, std::string> operations;
    auto names = forEachRow(import, "ENUM_CUDA_DEV_MEM_EVENT_OPER", {"id", "name"},
                            [&](const Rows& row) { operations.emplace(row.integer(1).value_or(-1), row.text(2)); });
    if (!names)
        return names;
    if (operations.empty())
        operations = {{0, "ALLOCATION"}, {1, "DEALLOCATION"}};
    std::vector<MemoryChange> changes;
    auto read = forEachRow(
        import, kTable, {"start", "bytes", "globalPid", "deviceId", "memoryOperationType", "memKind"},
        [&](const Rows& row) {
            const auto time = row.integer(1), bytes = row.integer(2), operation = row.integer(5);
            if (!time || !bytes || !operation)
                return;
            const auto lose = [&](Loss loss) { import.losses.add(loss, kTable, row.integer(0).value_or(-1)); };
            if (!import.window.holds(*time))
                return lose(Loss::FarTime);
            const std::int64_t device = row.integer(4).value_or(0);
            if (!isDevice(device))
                return lose(Loss::NoPlace);
            const auto memKind = row.integer(6);
            const MemoryKind kind = memKind ? import.enums.memory(*memKind) : MemoryKind::Device;
            const TrackId track =
                import.tracks.counter(row.integer(3).value_or(import.process), device, counterOf(kind), "bytes");
            const auto named = operations.find(*operation);
            const bool frees = named != operations.end() && named->second.find("DEALLOC") != std::string::npos;
            const auto held = static_cast<double>(*bytes);
            changes.push_back({track, *time, frees ? -held : held});
        });
    addSums(import.builder, std::move(changes));
    return read;
}

Result<void> readMetrics(Import& import)
{
    constexpr std::string_view kTable = "GPU_METRICS";
    using Metric = std::pair<std::int64_t, std::int64_t>; // metric type (there is one per GPU) and number
    std::map<Metric, std::string> names;
    auto named = forEachRow(import, "TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName", "typeName"},
                            [&](const Rows& row) {
                                const Metric metric{row.integer(1).value_or(0), row.integer(2).value_or(0)};
                                names.emplace(metric, row.isNull(4) ? std::string(row.text(3))
                                                                    : fmt::format("{}, {}", row.text(3), row.text(4)));
                            });
    if (!named)
        return named;
    std::map<Metric, TrackId> tracks;
    return forEachRow(import, kTable, {"timestamp", "typeId", "metricId", "value"}, [&](const Rows& row) {
        const auto time = row.integer(1);
        if (!time || row.isNull(4)) {
            import.losses.add(Loss::NoTime, kTable, row.integer(0).value_or(-1));
            return;
        }
        if (!import.window.holds(*time)) {
            import.losses.add(Loss::FarTime, kTable, row.integer(0).value_or(-1));
            return;
        }
        const Metric metric{row.integer(2).value_or(0), row.integer(3).value_or(0)};
        const auto [track, isNew] = tracks.try_emplace(metric);
        if (isNew) {
            const auto name = names.find(metric);
            Track counter;
            counter.kind = TrackKind::Counter;
            counter.name =
                name != names.end() ? name->second : fmt::format("metric {}, type {}", metric.second, metric.first);
            if (counter.name.find('%') != std::string::npos)
                counter.unit.push_back('%');
            track->second = import.builder.addTrack(std::move(counter));
        }
        import.builder.addSample(track->second, {traceTime(*time), row.real(4)});
    });
}

Result<void> readNvtx(Import& import)
{
    if (auto done = readDomains(import); !done)
        return done;
    const bool typed = import.schema.has(tableOf(Source::Nvtx), "eventType");
    return forEachRow(import, tableOf(Source::Nvtx), kNvtxColumns, [&](const Rows& row) {
        const std::string_view type =
            typed ? import.enums.eventType(row.integer(kType).value_or(-1)) : std::string_view("NvtxPushPopRange");
        const bool range = isRange(type), mark = type.ends_with("Mark");
        if (!range && !mark)
            return;
        auto slice = timed(import, row, Source::Nvtx, mark);
        if (!slice)
            return;
        slice->kind = ActivityKind::Nvtx;
        slice->name = import.strings.intern(withoutOperands(nameOf(import, row))).value;
        if (slice->name == 0)
            named(import, row, kTextId, tableOf(Source::Nvtx));
        const std::int64_t tid = row.integer(kTid).value_or(0);
        const bool ofThread = mark || type.find("Push") != type.npos;
        import.tracks.add(import.tracks.nvtx(tid, row.integer(kDomain).value_or(0), ofThread), *slice);
    });
}

} // namespace profiler::formats::nsys
