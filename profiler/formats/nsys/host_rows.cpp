#include "profiler/formats/nsys/export_rows.h"

#include <fmt/format.h>

namespace profiler::formats::nsys {

namespace {

enum : int { kGlobalId = 3, kCorrelation, kFirstOwn };

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
                           type = row.integer(kFirstOwn).value_or(0);
        const auto label = import.enums.syncTypes.find(type);
        slice->kind = import.enums.isStreamWait(type) ? ActivityKind::Other : ActivityKind::Sync;
        slice->name =
            import.strings.intern(label == import.enums.syncTypes.end() ? "Synchronization" : label->second).value;
        if (const auto stream = row.integer(kFirstOwn + 1); stream && *stream >= 0 && *stream < 0xffffffff) {
            SliceArgs args;
            args.stream = StreamId{static_cast<std::uint32_t>(*stream)};
            slice->args = import.builder.internArgs(args);
        }
        slice->link = import.tracks.correlation(pid, row.integer(kCorrelation).value_or(0));
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
    const auto named = import.enums.eventClasses.find(row.integer(kFirstOwn + 1).value_or(-1));
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
        named(import, row, kFirstOwn, tableOf(Source::Runtime));
        slice->name = import.strings.callAt(row.integer(kFirstOwn).value_or(-1)).value;
        slice->kind = isDriver(import, row, import.strings.text(StringId{slice->name})) ? ActivityKind::CudaDriver
                                                                                        : ActivityKind::CudaRuntime;
        slice->link = import.tracks.correlation(tid, row.integer(kCorrelation).value_or(0));
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
        slice->name = named(import, row, kFirstOwn, tableOf(source));
        const auto type = typeColumn.empty() ? std::nullopt : row.integer(kFirstOwn + 1);
        const auto label = import.enums.overheadTypes.find(type.value_or(-1));
        if (slice->name == 0 && label != import.enums.overheadTypes.end())
            slice->name = import.strings.intern(label->second).value;
        import.tracks.add(import.tracks.thread(tid), *slice);
    });
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

} // namespace profiler::formats::nsys
