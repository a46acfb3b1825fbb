#include "profiler/io/formats/nsys/export_rows.h"

#include <fmt/format.h>

namespace profiler::formats::nsys {

namespace {

// Columns of every table of device work, after its row id: start, end, then these.
enum : int { kStart = 1, kEnd, kDevice, kContext, kStream, kCorrelation, kGlobalPid, kFirstOwn };
const std::vector<std::string_view> kCommon = {"start",    "end",           "deviceId", "contextId",
                                               "streamId", "correlationId", "globalPid"};

std::vector<std::string_view> withOwn(std::initializer_list<std::string_view> own)
{
    std::vector<std::string_view> columns = kCommon;
    columns.insert(columns.end(), own);
    return columns;
}

/// Files a row of device work; `describe` gives it its name, kind and arguments.
template <class Describe>
Result<void> readTable(Import& import, Source source, const std::vector<std::string_view>& columns, Describe&& describe)
{
    return forEachRow(import, tableOf(source), columns, [&](const Rows& row) {
        auto slice = timed(import, row, source);
        if (!slice)
            return;
        const std::int64_t pid = row.integer(kGlobalPid).value_or(0);
        slice->link = import.tracks.correlation(pid, row.integer(kCorrelation).value_or(0));
        if (slice->link != 0)
            import.worked.push_back(slice->link);
        describe(row, *slice);
        import.tracks.add(import.tracks.stream({.globalPid = pid,
                                                .device = row.integer(kDevice).value_or(0),
                                                .context = row.integer(kContext).value_or(0),
                                                .stream = row.integer(kStream).value_or(0)}),
                          *slice);
    });
}

Result<void> readKernels(Import& import)
{
    const auto columns = withOwn({"demangledName", "shortName", "mangledName"});
    return readTable(import, Source::Kernel, columns, [&](const Rows& row, RawSlice& slice) {
        slice.kind = ActivityKind::Kernel;
        for (int column = kFirstOwn; column < kFirstOwn + 3 && slice.name == 0; ++column)
            if (const auto id = row.integer(column))
                slice.name = import.strings.at(*id).value;
    });
}

Result<void> readCopies(Import& import)
{
    const auto columns = withOwn({"bytes", "copyKind", "srcKind", "dstKind"});
    return readTable(import, Source::Memcpy, columns, [&](const Rows& row, RawSlice& slice) {
        SliceArgs args;
        args.bytes = row.integer(kFirstOwn).value_or(0);
        if (const auto kind = row.integer(kFirstOwn + 1))
            args.copy = import.enums.copy(*kind);
        if (const auto kind = row.integer(kFirstOwn + 2))
            args.src = import.enums.memory(*kind);
        if (const auto kind = row.integer(kFirstOwn + 3))
            args.dst = import.enums.memory(*kind);
        slice.kind = ActivityKind::GpuMemcpy;
        slice.args = import.builder.internArgs(args);
        // The PyTorch profiler's wording: users of both search for one thing.
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
        args.bytes = row.integer(kFirstOwn).value_or(0);
        if (const auto kind = row.integer(kFirstOwn + 1))
            args.dst = import.enums.memory(*kind);
        slice.kind = ActivityKind::GpuMemset;
        slice.args = import.builder.internArgs(args);
        slice.name = import.strings.intern(fmt::format("Memset ({})", memoryKindName(args.dst))).value;
    });
}

/// A CUDA graph traced as a whole: one record for all its kernels. Work of the device, so a kernel here.
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

/// Allocations and releases as a running sum per process and device.
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
    std::map<TrackId, double> held;
    return forEachRow(
        import, kTable, {"start", "bytes", "globalPid", "deviceId", "memoryOperationType"}, [&](const Rows& row) {
            const auto time = row.integer(1), bytes = row.integer(2), operation = row.integer(5);
            if (!time || !bytes || !operation)
                return;
            const TrackId track =
                import.tracks.counter(row.integer(3).value_or(0), row.integer(4).value_or(0), "memory", "bytes");
            const auto named = operations.find(*operation);
            const bool frees = named != operations.end() && named->second.find("DEALLOC") != std::string::npos;
            held[track] += static_cast<double>(frees ? -*bytes : *bytes);
            import.builder.addSample(
                track, {traceTime(std::clamp(*time, -RawSlice::kTimeLimit, RawSlice::kTimeLimit)), held[track]});
        });
}

} // namespace profiler::formats::nsys
