#include "advisor/report/detailed_analysis_tables.h"

#include "advisor/advice.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace advisor {

using namespace profiler::analysis;
using profiler::Nanoseconds;
using profiler::SliceId;

namespace {

using Cell = AnalysisTable::Cell;

constexpr std::string_view kLoader = "Balance of the loader's workers";

Cell text(std::string_view words)
{
    return {std::string(words), 0};
}
Cell number(double value)
{
    return {countText(value), value};
}
Cell timeUs(double us)
{
    return {timeText(us), us};
}
Cell time(Nanoseconds duration)
{
    return timeUs(toUs(duration));
}
Cell share(double value)
{
    return {shareText(value), value};
}
Cell bytes(std::int64_t value)
{
    return {bytesText(value), static_cast<double>(value)};
}
Cell speed(double gbPerSecond)
{
    return {gbPerSecond > 0 ? fmt::format("{:.2f}", gbPerSecond) : "–", gbPerSecond};
}

double part(Nanoseconds of, Nanoseconds whole)
{
    return whole.count() > 0 ? toUs(of) / toUs(whole) : 0;
}

std::string deviceName(const profiler::Trace& trace, profiler::DeviceId id)
{
    for (const profiler::Device& device : trace.devices())
        if (device.id == id && !device.name.empty())
            return fmt::format("{} (GPU {})", device.name, id.value);
    return fmt::format("GPU {}", id.value);
}

/// Keeps as many rows as there is room for, and writes the number of the others into the note.
void cut(AnalysisTable& table, std::size_t most)
{
    if (table.rows.size() <= most)
        return;
    table.note += fmt::format("{}{} more rows are not shown.", table.note.empty() ? "" : " ", table.rows.size() - most);
    table.rows.resize(most);
}

AnalysisTable launchTable(const profiler::Trace& trace, const LaunchStatistics& launches, bool perStep)
{
    AnalysisTable table{
        .key = "launches",
        .heading = "Kernel launches and launch queue",
        .columns = {{"Device"},
                    {perStep ? "Launches per step" : "Launches", true},
                    {"Call p50", true},
                    {"p99", true},
                    {"Latency p50", true},
                    {"p95", true},
                    {"Queue mean", true},
                    {"max", true},
                    {"Queue empty", true},
                    {"Into empty queue", true}},
        .rows = {},
        .note = "Call: duration of a call that launches a kernel. Latency: launch-to-start latency. Queue: launched "
                "work that has not started. Queue empty: share of the time in which the device had finished all "
                "launched work and waited for the host. Into empty queue: share of the launches for which the queue "
                "was empty, because launching was slow or because the host waited for data or for the device."};
    for (const DeviceLaunches& device : launches.devices) {
        table.rows.push_back(
            {{text(deviceName(trace, device.id)), number(device.launchesPerStep), timeUs(device.callUs),
              timeUs(device.callUsP99), timeUs(device.delayUs), timeUs(device.delayUsP95), number(device.meanDepth),
              number(static_cast<double>(device.maxDepth)), share(device.emptyShare), share(device.foundEmptyShare)},
             std::nullopt});
        if (device.linked < device.work)
            table.note += fmt::format(" Launches are recorded for {1} of {0}'s work: the queue was longer than this.",
                                      deviceName(trace, device.id), shareText(device.linkedShare()));
        if (device.backwards > 0)
            table.note += fmt::format(" {} operations start before their launch, because the host and device clocks "
                                      "disagree; they are excluded from the latency.",
                                      device.backwards);
    }
    return table;
}

std::string_view placeName(ReplayWork::Where where)
{
    return where == ReplayWork::Where::Device ? "device" : where == ReplayWork::Where::Loader ? "loader" : "host";
}

std::string pathNote(const DetailedAnalysis& analysis, bool allRows)
{
    const CriticalPath& path = analysis.path;
    const std::pair<Nanoseconds, const char*> places[] = {{path.host, "on the host"},
                                                          {path.device, "on devices"},
                                                          {path.loader, "in loader workers"},
                                                          {path.latency, "in latency between a cause and its effect"}};
    std::string shares;
    for (const auto& [time, where] : places)
        if (time.count() > 0)
            shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", shareText(part(time, path.total())), where);
    std::string note =
        (allRows ? "Only work in this table is worth shortening: " : "Of the critical path: ") + shares + '.';
    if (analysis.pathPart.steps < analysis.part.steps)
        note += fmt::format(
            " Covers {} of {} steps, those with recorded operators: in the others, only phases describe host work.",
            analysis.pathPart.steps, analysis.part.steps);
    return note;
}

AnalysisTable pathTable(const DetailedAnalysis& analysis, std::size_t room)
{
    const CriticalPath& path = analysis.path;
    AnalysisTable table{.key = "critical_path",
                        .heading = "What decided the duration (critical path)",
                        .columns = {{"Work"},
                                    {"Where"},
                                    {analysis.pathPart.steps > 0 ? "Time per step" : "Time", true},
                                    {"Share", true}},
                        .rows = {},
                        .note = {}};
    for (const CriticalPath::Share& row : path.byName) {
        table.rows.push_back({{text(row.name.empty() ? "(no event)" : row.name), text(placeName(row.where)),
                               timeUs(analysis.pathPart.perStep(toUs(row.time))), share(part(row.time, path.total()))},
                              row.name.empty() ? std::nullopt : std::optional(row.longest)});
    }
    table.note = pathNote(analysis, table.rows.size() <= room);
    return table;
}

std::string copyNote(const CopyBandwidth& copies)
{
    const auto byLink = [&](const CopyClass& row) { return copies.limitedByLink(row.kind); };
    const bool link = std::any_of(copies.classes.begin(), copies.classes.end(), byLink);
    std::string note;
    if (link)
        note = fmt::format("The best possible bandwidth between host and device is that of the link ({}) in one "
                           "direction, {:.1f} GB/s; packet headers take about 10 % of it.",
                           copies.link->text(), copies.link->gbPerSecond());
    std::string measured;
    for (const BestCopy& best : copies.best)
        if (!copies.limitedByLink(best.kind))
            measured +=
                fmt::format(" {} {:.2f} GB/s ({} from {} to {} memory).", copyKindName(best.kind), best.gbPerSecond,
                            bytesText(best.bytes), memoryKindName(best.src), memoryKindName(best.dst));
    if (!measured.empty())
        note += (link ? std::string(" Other kinds are compared with the fastest copy of at least 1 MiB:")
                      : std::string("The trace does not record the bandwidth of the link. Copies are compared with the "
                                    "fastest copy of at least 1 MiB of each kind:")) +
                measured;
    else if (!link)
        note = "No copy is as large as 1 MiB. Small copies mostly consist of overhead, so the bandwidth of the link is "
               "unknown.";
    return note;
}

AnalysisTable copyTable(const CopyBandwidth& copies)
{
    AnalysisTable table{.key = "copy_bandwidth",
                        .heading = "Copy bandwidth vs. best achieved",
                        .columns = {{"Copies"},
                                    {"From"},
                                    {"To"},
                                    {"Size"},
                                    {"Count", true},
                                    {"Bytes", true},
                                    {"Time", true},
                                    {"GB/s", true},
                                    {"Of best", true}},
                        .rows = {},
                        .note = copyNote(copies)};
    for (const CopyClass& row : copies.classes)
        for (std::size_t size = 0; size < kCopySizes; ++size) {
            const CopyClass::Sum& sum = row.sizes[size];
            if (sum.count == 0)
                continue;
            const std::optional<double> ofBest = copies.shareOfBest(sum, row.kind);
            table.rows.push_back(
                {{text(copyKindName(row.kind)), text(memoryKindName(row.src)), text(memoryKindName(row.dst)),
                  text(copySizeName(size)), number(static_cast<double>(sum.count)), bytes(sum.bytes), time(sum.time),
                  speed(sum.gbPerSecond()), ofBest ? share(*ofBest) : Cell{"–", -1}},
                 row.longest});
        }
    return table;
}

/// Values are per step if there are steps.
AnalysisTable siteTable(const CallSites& sites, const AnalysedPart& part, std::string key, std::string heading,
                        bool filled)
{
    const bool perStep = part.steps > 0;
    AnalysisTable table{
        .key = std::move(key),
        .heading = std::move(heading),
        .columns = {{"Called by"}, {"In"}, {"Phase"}, {"Call"}, {perStep ? "Calls per step" : "Calls", true}},
        .rows = {},
        .note = {}};
    if (filled)
        table.columns.push_back({perStep ? "Bytes per step" : "Bytes", true});
    table.columns.push_back({perStep ? "Time per step" : "Time", true});
    for (const CallSite& site : sites.sites) {
        AnalysisTable::Row row{{text(site.ops.empty() ? "–" : site.ops), text(site.range.empty() ? "–" : site.range),
                                text(site.phase.empty() ? "–" : site.phase), text(site.call.empty() ? "–" : site.call),
                                number(site.countPerStep)},
                               site.longest};
        if (filled)
            row.cells.push_back(bytes(std::llround(part.perStep(static_cast<double>(site.bytes)))));
        row.cells.push_back(timeUs(part.perStep(toUs(site.time))));
        table.rows.push_back(std::move(row));
    }
    if (sites.unlinked > 0)
        table.note =
            fmt::format("The trace does not record the call of {} of {} memsets.", sites.unlinked, sites.count);
    return table;
}

AnalysisTable workerTable(const LoaderBalance& loader)
{
    AnalysisTable table{
        .key = "loader_workers",
        .heading = "Loader workers",
        .columns =
            {{"Worker"}, {"Busy", true}, {"Share", true}, {"Waits", true}, {"Batches", true}, {"Time per batch", true}},
        .rows = {},
        .note = {}};
    for (const WorkerUse& worker : loader.workers)
        table.rows.push_back(
            {{text(worker.name), time(worker.busy), share(worker.busyShare), share(worker.waitingShare),
              number(static_cast<double>(worker.batches)), timeUs(worker.usPerBatch)},
             worker.longest});
    table.note = fmt::format("The busiest worker worked {:.2f} × the mean.", loader.busiestOverMean);
    if (loader.slowestOverMean > 0)
        table.note += fmt::format(" Batches take longest in {}: {:.2f} × the mean.",
                                  loader.workers[loader.slowest].name, loader.slowestOverMean);
    return table;
}

AnalysisTable stragglerTable(const profiler::Trace& trace, const Stragglers& stragglers)
{
    AnalysisTable table{.key = "stragglers",
                        .heading = "Ranks that the others wait for",
                        .columns = {{"Rank's device"}, {"Arrived last", true}, {"Of", true}, {"Waited", true}},
                        .rows = {},
                        .note = {}};
    for (const RankArrival& rank : stragglers.ranks)
        table.rows.push_back({{text(deviceName(trace, rank.device)), number(static_cast<double>(rank.last)),
                               number(static_cast<double>(stragglers.collectives)), time(rank.waited)},
                              stragglers.worst});
    table.note = fmt::format("Kernels waited {} of their time for the last rank to arrive; in half of the collectives "
                             "it arrived more than {} after the first.",
                             shareText(stragglers.waitedShare), timeText(toUs(stragglers.spread)));
    if (stragglers.alone > 0)
        table.note +=
            fmt::format(" {} communication kernels have no matching kernel on another device.", stragglers.alone);
    return table;
}

/// The analyses that the trace does not support, and why; no rows if it supports all.
AnalysisTable cannotTellTable(const DetailedAnalysis& analysis)
{
    AnalysisTable table{.key = "cannot_tell",
                        .heading = "What the trace does not record",
                        .columns = {{"What"}, {"Because"}},
                        .rows = {},
                        .note = {}};
    if (!analysis.launches.anyWork) {
        table.rows.push_back({{text("Device work"), text(analysis.launches.cannotTell)}, std::nullopt});
        if (!analysis.loader.cannotTell.empty())
            table.rows.push_back({{text(kLoader), text(analysis.loader.cannotTell)}, std::nullopt});
        return table;
    }
    const std::pair<std::string_view, const std::string*> reasons[] = {
        {"Launch queue", &analysis.launches.cannotTell},
        {"Copy bandwidth", &analysis.copies.cannotTell},
        {"Memset callers", &analysis.memsets.cannotTell},
        {"Synchronization callers", &analysis.syncs.cannotTell},
        {kLoader, &analysis.loader.cannotTell},
        {"Ranks that the others wait for", &analysis.stragglers.cannotTell}};
    for (const auto& [what, why] : reasons)
        if (!why->empty())
            table.rows.push_back({{text(what), text(*why)}, std::nullopt});
    return table;
}

} // namespace

std::vector<AnalysisTable> detailedAnalysisTables(const profiler::Trace& trace, const DetailedAnalysis& analysis,
                                                  std::size_t most)
{
    std::vector<AnalysisTable> tables;
    tables.push_back(launchTable(trace, analysis.launches, analysis.part.steps > 0));
    tables.push_back(pathTable(analysis, most));
    tables.push_back(copyTable(analysis.copies));
    tables.push_back(siteTable(analysis.memsets, analysis.part, "memset_origins", "Memset callers", true));
    tables.push_back(siteTable(analysis.syncs, analysis.part, "sync_callers", "Synchronization callers", false));
    if (analysis.loader.cannotTell.empty())
        tables.push_back(workerTable(analysis.loader));
    if (analysis.stragglers.cannotTell.empty())
        tables.push_back(stragglerTable(trace, analysis.stragglers));
    for (AnalysisTable& table : tables)
        cut(table, most);
    tables.push_back(cannotTellTable(analysis));
    std::erase_if(tables, [](const AnalysisTable& table) { return table.rows.empty(); });
    return tables;
}

} // namespace advisor
