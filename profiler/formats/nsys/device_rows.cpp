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

// Columns of every table of device work after its row id: start, end, then these.
enum : int { kStart = 1, kEnd, kDevice, kContext, kStream, kCorrelation, kGlobalPid, kGraphNode, kFirstOwn };
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

} // namespace

Result<void> readDeviceWork(Import& import)
{
    for (const auto read : {readKernels, readCopies, readMemsets, readGraphs})
        if (auto done = read(import); !done)
            return done;
    return {};
}

namespace {

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

} // namespace

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

} // namespace profiler::formats::nsys
