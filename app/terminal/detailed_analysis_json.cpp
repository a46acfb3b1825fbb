#include "app/terminal/detailed_analysis_json.h"

#include <algorithm>
#include <string>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler;
using namespace profiler::analysis;
using Json = nlohmann::ordered_json;

Json textOrNull(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

Json launchesJson(const LaunchStatistics& launches)
{
    Json devices = Json::array();
    for (const DeviceLaunches& d : launches.devices)
        devices.push_back(
            {{"id", d.id.value},
             {"launches", d.launches},
             {"launches_per_step", d.launchesPerStep},
             {"work", d.work},
             {"linked", d.linked},
             {"backwards", d.backwards},
             {"call_us", {{"median", d.callUs}, {"p99", d.callUsP99}}},
             {"delay_us", {{"median", d.delayUs}, {"p95", d.delayUsP95}}},
             {"queue",
              {{"time_us", toUs(d.time)}, {"mean", d.meanDepth}, {"max", d.maxDepth}, {"empty", d.emptyShare}}},
             {"launched_into_empty", d.foundEmptyShare}});
    return {{"devices", devices}, {"cannot_tell", textOrNull(launches.cannotTell)}};
}

Json pathJson(const DetailedAnalysis& analysis)
{
    const CriticalPath& path = analysis.path;
    constexpr std::size_t kMost = 30;
    if (path.total().count() == 0)
        return nullptr;
    Json rows = Json::array();
    for (std::size_t i = 0; i < std::min(kMost, path.byName.size()); ++i) {
        const CriticalPath::Share& row = path.byName[i];
        rows.push_back({{"name", textOrNull(row.name)},
                        {"where", row.where == ReplayWork::Where::Device   ? "device"
                                  : row.where == ReplayWork::Where::Loader ? "loader"
                                                                           : "host"},
                        {"time_us", toUs(row.time)}});
    }
    return {{"total_us", toUs(path.total())},
            {"host_us", toUs(path.host)},
            {"device_us", toUs(path.device)},
            {"loader_us", toUs(path.loader)},
            {"latency_us", toUs(path.latency)},
            {"steps", analysis.pathPart.steps},
            {"only_steps_with_ops", analysis.pathPart.steps < analysis.part.steps},
            {"top", rows}};
}

Json sumJson(const CopyClass::Sum& sum)
{
    return {{"count", sum.count},
            {"bytes", sum.bytes},
            {"time_us", toUs(sum.time)},
            {"gb_per_s", sum.time.count() > 0 ? Json(sum.gbPerSecond()) : Json(nullptr)}};
}

Json copiesJson(const CopyBandwidth& copies)
{
    Json classes = Json::array(), best = Json::array();
    for (const CopyClass& row : copies.classes) {
        Json entry = {
            {"kind", copyKindName(row.kind)}, {"src", memoryKindName(row.src)}, {"dst", memoryKindName(row.dst)}};
        entry.update(sumJson(row.all));
        const auto share = copies.shareOfBest(row.all, row.kind);
        entry["of_best"] = share ? Json(*share) : Json(nullptr);
        entry["over_best_us"] = share ? Json(toUs(row.overBest)) : Json(nullptr);
        for (std::size_t size = 0; size < kCopySizes; ++size)
            if (row.sizes[size].count > 0) {
                Json part = {{"size", copySizeName(size)}};
                part.update(sumJson(row.sizes[size]));
                entry["sizes"].push_back(part);
            }
        classes.push_back(std::move(entry));
    }
    for (const BestCopy& row : copies.best)
        best.push_back({{"kind", copyKindName(row.kind)},
                        {"src", memoryKindName(row.src)},
                        {"dst", memoryKindName(row.dst)},
                        {"bytes", row.bytes},
                        {"gb_per_s", row.gbPerSecond}});
    Json link;
    if (copies.link)
        link = {{"pcie_generation", copies.link->generation},
                {"width", copies.link->width},
                {"gb_per_s", copies.link->gbPerSecond()}};
    return {{"classes", classes}, {"best", best}, {"link", link}, {"cannot_tell", textOrNull(copies.cannotTell)}};
}

Json sitesJson(const CallSites& sites, bool filled)
{
    Json rows = Json::array();
    for (const CallSite& site : sites.sites) {
        Json row = {
            {"call", textOrNull(site.call)},   {"ops", textOrNull(site.ops)}, {"range", textOrNull(site.range)},
            {"phase", textOrNull(site.phase)}, {"count", site.count},         {"count_per_step", site.countPerStep},
            {"time_us", toUs(site.time)}};
        if (filled)
            row["bytes"] = site.bytes;
        rows.push_back(std::move(row));
    }
    Json json = {{"count", sites.count}, {"time_us", toUs(sites.time)}};
    if (filled)
        json["unlinked"] = sites.unlinked;
    json["sites"] = std::move(rows);
    json["cannot_tell"] = textOrNull(sites.cannotTell);
    return json;
}

Json workersJson(const LoaderBalance& loader)
{
    Json rows = Json::array();
    for (const WorkerUse& worker : loader.workers)
        rows.push_back({{"name", worker.name},
                        {"busy_us", toUs(worker.busy)},
                        {"busy", worker.busyShare},
                        {"waiting_us", toUs(worker.waiting)},
                        {"waiting", worker.waitingShare},
                        {"batches", worker.batches},
                        {"us_per_batch", worker.batches > 0 ? Json(worker.usPerBatch) : Json(nullptr)}});
    const bool isKnown = loader.cannotTell.empty(), batches = loader.slowestOverMean > 0;
    return {{"workers", rows},
            {"busiest_over_mean", isKnown ? Json(loader.busiestOverMean) : Json(nullptr)},
            {"slowest", batches ? Json(loader.workers[loader.slowest].name) : Json(nullptr)},
            {"slowest_over_mean", batches ? Json(loader.slowestOverMean) : Json(nullptr)},
            {"cannot_tell", textOrNull(loader.cannotTell)}};
}

Json stragglersJson(const Stragglers& stragglers)
{
    Json ranks = Json::array();
    for (const RankArrival& rank : stragglers.ranks)
        ranks.push_back({{"device", rank.device.value}, {"last", rank.last}, {"waited_us", toUs(rank.waited)}});
    return {{"ranks", ranks},
            {"collectives", stragglers.collectives},
            {"alone", stragglers.alone},
            {"waited_us", toUs(stragglers.waited)},
            {"waited", stragglers.waitedShare},
            {"median_spread_us", toUs(stragglers.spread)},
            {"cannot_tell", textOrNull(stragglers.cannotTell)}};
}

} // namespace

void addDetailedAnalysis(Json& json, const DetailedAnalysis& analysis)
{
    json["launches"] = launchesJson(analysis.launches);
    json["critical_path"] = pathJson(analysis);
    json["copy_bandwidth"] = copiesJson(analysis.copies);
    json["memset_origins"] = sitesJson(analysis.memsets, true);
    json["sync_callers"] = sitesJson(analysis.syncs, false);
    json["loader_workers"] = workersJson(analysis.loader);
    json["stragglers"] = stragglersJson(analysis.stragglers);
}

} // namespace app::terminal
