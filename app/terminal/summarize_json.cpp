#include "advisor/evidence/program_facts.h"
#include "app/terminal/output.h"
#include "app/terminal/summarize.h"
#include "profiler/analysis/detailed_analysis.h"
#include "profiler/analysis/device/occupancy.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/device_steps.h"
#include "profiler/model/recording_end.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace app::terminal {

using namespace advisor;
using namespace profiler;
using namespace profiler::analysis;

namespace {

using Json = nlohmann::ordered_json;

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

/// Adds `launches`, `critical_path`, `copy_bandwidth`, `memset_origins`, `sync_callers`, `loader_workers` and
/// `stragglers`. Each except the path has `cannot_tell`: the reason why the trace does not support it, or null.
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

Json metadataOrNull(const Trace& trace, std::string_view key)
{
    const auto entry = trace.metadata().find(key);
    return entry == trace.metadata().end() ? Json(nullptr) : Json(entry->second);
}

Json numberOrNull(const Trace& trace, std::string_view key)
{
    const auto entry = trace.metadata().find(key);
    std::int64_t number = 0;
    if (entry == trace.metadata().end())
        return nullptr;
    const char* end = entry->second.data() + entry->second.size();
    return std::from_chars(entry->second.data(), end, number).ptr == end ? Json(number) : Json(nullptr);
}

Json sourceJson(const Trace& trace)
{
    Json devices = Json::array();
    for (const Device& device : trace.devices())
        devices.push_back({{"id", device.id.value}, {"name", device.name}});
    return {{"format", trace.format()},
            {"devices", devices},
            {"rank", numberOrNull(trace, "rank")},
            {"world_size", numberOrNull(trace, "world_size")}};
}

Json countsJson(const Summary::Counts& counts)
{
    return {{"events", counts.events}, {"kernel", counts.kernel},   {"memcpy", counts.memcpy},
            {"memset", counts.memset}, {"runtime", counts.runtime}, {"cpu_op", counts.cpuOp},
            {"nvtx", counts.nvtx}};
}

Json transfersJson(const std::vector<Transfer>& transfers)
{
    Json rows = Json::array();
    for (const Transfer& row : transfers)
        rows.push_back({{"kind", copyKindName(row.kind)},
                        {"src", memoryKindName(row.src)},
                        {"dst", memoryKindName(row.dst)},
                        {"count", row.count},
                        {"bytes", row.bytes},
                        {"time_us", toUs(row.time)},
                        {"gb_per_s", row.time.count() > 0 ? Json(row.gbPerSecond()) : Json(nullptr)}});
    return rows;
}

Json devicesJson(const std::vector<DeviceUse>& devices)
{
    const auto share = [](Nanoseconds part, Nanoseconds whole) {
        return whole.count() > 0 ? Json(toUs(part) / toUs(whole)) : Json(nullptr);
    };
    Json rows = Json::array();
    for (const DeviceUse& device : devices)
        rows.push_back({{"id", device.id.value},
                        {"busy_kernel_us", toUs(device.busyKernel)},
                        {"busy_any_us", toUs(device.busyAny)},
                        {"span_us", toUs(device.span)},
                        {"busy_kernel", share(device.busyKernel, device.span)},
                        {"busy_any", share(device.busyAny, device.span)},
                        {"streams", device.streams}});
    return rows;
}

Json breakdownJson(const Breakdown& breakdown)
{
    if (breakdown.total.count() == 0)
        return nullptr;
    const auto share = [&](TimeClass c) { return breakdown.share(c); };
    return {{"kernel", share(TimeClass::Kernel)},   {"communication", share(TimeClass::Communication)},
            {"memcpy", share(TimeClass::Memcpy)},   {"memset", share(TimeClass::Memset)},
            {"runtime", share(TimeClass::Runtime)}, {"data_loader", share(TimeClass::DataLoader)},
            {"cpu_op", share(TimeClass::CpuOp)},    {"other", share(TimeClass::Other)}};
}

Json stepsJson(const Summary& summary)
{
    Json json = stepTimesJson(summary.statistics, summary.steps);
    if (!summary.steps.empty() && summary.steps.front().found)
        json["from"] = "repetition";
    if (areMeasuredOnDevice(summary.steps))
        json["measured_on"] = "device";
    if (!summary.ranks.empty())
        json["processes"] = summary.ranks.size();
    if (summary.slowestRank)
        json["rank"] = summary.ranks[*summary.slowestRank].rank.number;
    return json;
}

Json betweenJson(const BetweenSteps& between)
{
    Json phases = Json::array();
    for (const BetweenSteps::Phase& phase : between.phases)
        phases.push_back({{"name", phase.name}, {"count", phase.count}, {"time_us", toUs(phase.time)}});
    return {{"span_us", toUs(between.span)},
            {"time_us", toUs(between.time)},
            {"phases", phases},
            {"other_us", toUs(between.other)}};
}

double stepUs(const StepStatistics& s)
{
    return s.steadyCount > 0 ? s.steadyMeanUs : s.meanUs;
}

/// `busy` is the share of its devices' spans in which they were busy.
Json ranksJson(const Summary& summary)
{
    Json rows = Json::array();
    for (const Summary::RankSummary& row : summary.ranks) {
        Json devices = Json::array();
        for (const DeviceId device : row.rank.devices)
            devices.push_back(device.value);
        double busyUs = 0, spanUs = 0;
        for (const DeviceUse& device : row.devices) {
            busyUs += toUs(device.busyAny);
            spanUs += toUs(device.span);
        }
        const bool own = !row.rank.sharesDevices;
        rows.push_back({{"rank", row.rank.number},
                        {"process", row.rank.process},
                        {"name", row.rank.name},
                        {"devices", devices},
                        {"steps", stepTimesJson(row.statistics, row.rank.steps)},
                        {"step_us", row.statistics.count > 0 ? Json(stepUs(row.statistics)) : Json(nullptr)},
                        {"busy", own && spanUs > 0 ? Json(busyUs / spanUs) : Json(nullptr)},
                        {"comm_exposed_us", own ? Json(toUs(row.communication.exposed)) : Json(nullptr)},
                        {"breakdown", breakdownJson(row.breakdown)}});
    }
    return rows;
}

/// The job of several ranks: each of its steps takes as long as that of its slowest rank.
Json jobJson(const Summary& summary)
{
    const Summary::RankSummary& slowest = summary.ranks[*summary.slowestRank];
    return {{"world_size", summary.ranks.size()},
            {"step_us", slowest.statistics.count > 0 ? Json(stepUs(slowest.statistics)) : Json(nullptr)},
            {"slowest_rank", slowest.statistics.count > 0 ? Json(slowest.rank.number) : Json(nullptr)}};
}

Json versionsJson(const Trace& trace)
{
    Json versions;
    for (const char* name : {"cuda_driver", "cuda_runtime", "cudnn", "nccl", "cupti", "torch"})
        versions[name] = metadataOrNull(trace, std::string("versions.") + name);
    return versions;
}

Json communicationJson(const Communication& comm)
{
    const double overlap = comm.time.count() > 0 ? 1 - toUs(comm.exposed) / toUs(comm.time) : 0;
    return {{"kernels", comm.kernels},
            {"time_us", toUs(comm.time)},
            {"exposed_us", toUs(comm.exposed)},
            {"overlap", comm.time.count() > 0 ? Json(overlap) : Json(nullptr)}};
}

/// As the trace stores them: snapshots by line, in "op".
Json aliveJson(const MemoryMoment& moment)
{
    Json alive = Json::array();
    for (const MemoryHolder& holder : moment.alive)
        alive.push_back({{"op", textOrNull(holder.op)},
                         {"phase", textOrNull(holder.phase)},
                         {"step", holder.step ? Json(*holder.step) : Json(nullptr)},
                         {"bytes", holder.bytes},
                         {"blocks", holder.blocks},
                         {"rest", holder.rest}});
    return alive;
}

Json holdersJson(const std::vector<LiveBlocks>& holders)
{
    Json rows = Json::array();
    for (const LiveBlocks& holder : holders)
        rows.push_back({{"bytes", holder.bytes},
                        {"blocks", holder.blocks},
                        {"category", holder.rest ? Json(nullptr) : Json(memoryCategoryKey(holder.category))},
                        {"file", textOrNull(holder.place.file)},
                        {"line", holder.place.empty() ? Json(nullptr) : Json(holder.place.line)},
                        {"function", textOrNull(holder.place.function)},
                        {"op", textOrNull(holder.op)},
                        {"phase", textOrNull(holder.phase)},
                        {"step", holder.step ? Json(*holder.step) : Json(nullptr)},
                        {"rest", holder.rest}});
    return rows;
}

const char* memorySourceKey(MemorySource source)
{
    switch (source) {
    case MemorySource::AllocatorHistory:
        return "allocator_history";
    case MemorySource::DriverTotals:
        return "driver_totals";
    case MemorySource::AllocatorTotals:
        break;
    }
    return "allocator_totals";
}

Json memoryJson(const Trace& trace, const Summary& summary)
{
    const TraceTime start = trace.range().begin;
    Json rows = Json::array();
    for (const bool ranOut : {true, false})
        for (const DeviceMemory& device : summary.memoryUse)
            for (const MemoryState& state : device.moments) {
                if (state.ranOut != ranOut)
                    continue;
                Json row = {{"place", device.place},
                            {"moment", ranOut ? "out_of_memory" : "peak"},
                            {"bytes", state.bytes},
                            {"asked_bytes", state.asked ? Json(*state.asked) : Json(nullptr)},
                            {"alive", Json::array()}};
                for (const MemoryMoment& moment : summary.memory)
                    if (moment.place == device.place && moment.ranOut == ranOut)
                        row["alive"] = aliveJson(moment);
                row["source"] = memorySourceKey(device.source);
                row["since_begin"] = device.sinceBegin;
                row["at_us"] = state.time ? Json(toUs(*state.time - start)) : Json(nullptr);
                row["reserved_bytes"] = device.hasReserved && state.time ? Json(state.sample.total()) : Json(nullptr);
                Json& categories = row["categories"] = Json::object();
                for (std::size_t i = 0; i < kMemoryCategories; ++i)
                    categories[std::string(memoryCategoryKey(static_cast<MemoryCategory>(i)))] = state.sample.bytes[i];
                row["holders"] = holdersJson(state.holders);
                rows.push_back(std::move(row));
            }
    return rows;
}

Json lossJson(const Trace& trace)
{
    const CaptureStats stats = trace.losses();
    std::vector<Message> notes;
    if (stats.cut)
        notes.push_back(message<"trace.cut",
                                "The trace is incomplete: the run was interrupted, or part of the file is missing.">());
    notes.insert(notes.end(), stats.notes.begin(), stats.notes.end());
    return {{"dropped", stats.dropped},
            {"unmatched", stats.unmatched},
            {"notes", textsJson(notes)},
            {"note_messages", messagesJson(notes)}};
}

/// The longest launch of a kernel; what the trace does not record is missing.
Json longestJson(const Trace& trace, SliceId id)
{
    const Slice slice = trace.slice(id);
    const LaunchConfig launch = trace.launch(slice.args.launch);
    Json json = {{"duration_us", toUs(slice.duration)}};
    if (launch.blocks() > 0)
        json["grid"] = launch.grid;
    if (launch.threads() > 0)
        json["block"] = launch.block;
    const auto add = [&](const char* key, std::optional<std::uint32_t> figure) {
        if (figure)
            json[key] = *figure;
    };
    add("registers_per_thread", launch.registers);
    add("shared_memory_bytes", launch.sharedMemory);
    add("dynamic_shared_memory_bytes", launch.dynamicSharedMemory);
    add("local_memory_bytes_per_thread", launch.localMemory);
    if (const auto occupancy = occupancyOf(trace, slice)) {
        json["occupancy"] = occupancy->share();
        using namespace occupancy_limit;
        const std::pair<std::uint8_t, const char*> names[] = {
            {kRegisters, "registers"}, {kSharedMemory, "shared_memory"}, {kBlocks, "blocks"}, {kWarps, "warps"}};
        Json& limits = json["occupancy_limits"] = Json::array();
        for (const auto& [limit, name] : names)
            if ((occupancy->limits & limit) != 0)
                limits.push_back(name);
    }
    return json;
}

/// NaN, a step that the rank did not record, becomes null.
Json listJson(const std::vector<double>& values)
{
    Json list = Json::array();
    for (const double value : values)
        list.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    return list;
}

Json stepsJson(const RankDigest& rank)
{
    std::vector<Step> steps;
    if (rank.hasSteps)
        for (const RankStep& own : rank.steps) {
            Step& step = steps.emplace_back();
            step.index = own.index;
            step.range = own.range;
            step.warmup = !own.steady;
        }
    return stepTimesJson(stepStatistics(steps), steps);
}

Json ranksJson(const JobSummary& summary)
{
    Json rows = Json::array();
    for (std::size_t i = 0; i < summary.job.ranks.size(); ++i) {
        const RankDigest& digest = summary.job.ranks[i];
        const JobRank& rank = summary.job.analysis.ranks[i];
        const RankClock& clock = summary.job.analysis.clock.ranks[i];
        rows.push_back({{"rank", digest.rank},
                        {"host", textOrNull(digest.host)},
                        {"file", digest.file},
                        {"step_us", rank.stepUs},
                        {"busy", digest.busy},
                        {"comm_exposed_us", rank.exposedUs},
                        {"comm_wait_us", rank.waitUs},
                        {"comm_transfer_us", rank.transferUs},
                        {"late_us", std::max(rank.lateUs, 0.0)},
                        {"bubble_us", summary.job.analysis.pipeline ? Json(rank.bubbleUs) : Json(nullptr)},
                        {"stage", rank.stage >= 0 ? Json(rank.stage) : Json(nullptr)},
                        {"events", digest.events},
                        {"steps", stepsJson(digest)},
                        {"step_list_us", listJson(rank.stepByStepUs)},
                        {"wait_list_us", listJson(rank.waitByStepUs)},
                        {"late_list_us", listJson(rank.lateByStepUs)},
                        {"compute_list_us", listJson(rank.computeByStepUs)},
                        {"clock_correction_us", toUs(clock.correction)},
                        {"clock_error_us", clock.refined ? Json(toUs(clock.error)) : Json(nullptr)}});
    }
    return rows;
}

Json stragglersJson(const JobSummary& summary)
{
    Json rows = Json::array();
    for (const Straggler& straggler : summary.job.analysis.stragglers)
        rows.push_back({{"rank", summary.job.ranks[straggler.rank].rank},
                        {"cause", stragglerCauseName(straggler.cause)},
                        {"late_us", straggler.lateUs},
                        {"when", straggler.always              ? "always"
                                 : straggler.steps.size() == 1 ? "one step"
                                                               : "some steps"},
                        {"steps", straggler.steps},
                        {"whole_host", straggler.wholeHost},
                        {"reason", messageJson(straggler.reason)}});
    return rows;
}

Json clockJson(const JobAnalysis& analysis, const std::vector<RankDigest>& ranks)
{
    bool realtime = true;
    Json steps = Json::array();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        realtime = realtime && ranks[i].hasRealtime;
        for (const ClockStep& step : analysis.clock.ranks[i].steps)
            steps.push_back({{"rank", ranks[i].rank}, {"host", textOrNull(ranks[i].host)}, {"by_us", toUs(step.by)}});
    }
    return {{"method", analysis.clock.refined ? "collectives"
                       : realtime             ? "realtime"
                                              : "none"},
            {"error_us", analysis.clock.refined ? Json(toUs(analysis.clock.error)) : Json(nullptr)},
            {"steps", steps}};
}

Json groupsJson(const JobAnalysis& analysis)
{
    Json rows = Json::array();
    for (const GroupUse& use : analysis.groups)
        rows.push_back({{"role", groupRoleName(use.role)},
                        {"groups", use.groups},
                        {"size", use.size},
                        {"calls", use.calls},
                        {"exposed_us", use.exposedUs},
                        {"wait_us", use.waitUs},
                        {"transfer_us", use.transferUs}});
    return rows;
}

Json collectivesJson(const JobAnalysis& analysis)
{
    const auto known = [](double rate) { return rate > 0 ? Json(rate) : Json(nullptr); };
    Json rows = Json::array();
    for (const CollectiveUse& use : analysis.collectives)
        rows.push_back({{"kind", collectiveName(use.kind)},
                        {"group", groupRoleName(use.role)},
                        {"link", linkName(use.link)},
                        {"ranks", use.ranks},
                        {"bytes", use.bytes > 0 ? Json(use.bytes) : Json(nullptr)},
                        {"count", use.count},
                        {"transfer_us", use.transferUs},
                        {"wait_us", use.waitUs},
                        {"algorithm_gb_per_s", known(use.algorithmGbPerS)},
                        {"bus_gb_per_s", known(use.busGbPerS)},
                        {"best_bus_gb_per_s", known(use.bestBusGbPerS)},
                        {"link_best_bus_gb_per_s", known(use.linkGbPerS)}});
    return rows;
}

Json excludedJson(const job::Job& job)
{
    Json rows = Json::array();
    for (const job::ExcludedFile& file : job.excluded)
        rows.push_back({{"file", file.file.string()},
                        {"rank", file.rank ? Json(*file.rank) : Json(nullptr)},
                        {"reason", messageJson(file.why)}});
    return rows;
}

std::vector<Message> notesOf(const job::Job& job)
{
    std::vector<Message> notes = job.notes;
    notes.insert(notes.end(), job.analysis.notes.begin(), job.analysis.notes.end());
    return notes;
}

Json pipelineJson(const std::optional<PipelineUse>& use)
{
    if (!use)
        return nullptr;
    return {{"stages", use->stages > 0 ? Json(use->stages) : Json(nullptr)}, {"bubble", use->bubble}};
}

Json jobJson(const JobSummary& summary)
{
    const job::Job& job = summary.job;
    const JobAnalysis& analysis = job.analysis;
    Json numbers = Json::array();
    for (const std::int64_t step : analysis.steps)
        numbers.push_back(step);
    return {{"world_size", job.worldSize},
            {"step_us", analysis.stepUs},
            {"efficiency", analysis.efficiency},
            {"slowest_rank", analysis.slowest ? Json(job.ranks[*analysis.slowest].rank) : Json(nullptr)},
            {"stragglers", stragglersJson(summary)},
            {"missing_ranks", job.missing},
            {"clock", clockJson(analysis, job.ranks)},
            {"steps", numbers},
            {"groups", groupsJson(analysis)},
            {"collectives", collectivesJson(analysis)},
            {"matched", analysis.matched},
            {"unmatched_calls", analysis.alone},
            {"mismatched_calls", analysis.mismatched},
            {"overlap", analysis.overlap},
            {"pipeline", pipelineJson(analysis.pipeline)},
            {"compute_imbalance", analysis.computeImbalance},
            {"exchange_imbalance", analysis.exchangeImbalance},
            {"excluded", excludedJson(job)},
            {"notes", messagesJson(notesOf(job))}};
}

} // namespace

Json stepTimesJson(const StepStatistics& s, const std::vector<Step>& steps)
{
    const auto known = [](bool there, double us) { return there ? Json(us) : Json(nullptr); };
    Json list = Json::array();
    for (const Step& step : steps)
        list.push_back(toUs(step.range.duration()));
    return {{"count", s.count},
            {"mean_us", known(s.count > 0, s.meanUs)},
            {"median_us", known(s.count > 0, s.medianUs)},
            {"p90_us", known(s.count > 0, s.p90Us)},
            {"min_us", known(s.count > 0, s.minUs)},
            {"max_us", known(s.count > 0, s.maxUs)},
            {"steady_mean_us", known(s.steadyCount > 0, s.steadyMeanUs)},
            {"list_us", list}};
}

Json toJson(const Trace& trace, const Summary& summary)
{
    Json idle = Json::array();
    for (const IdleCause& cause : summary.idle)
        idle.push_back({{"cause", cause.cause}, {"time_us", toUs(cause.time)}});
    Json kernels = Json::array();
    for (const KernelTotal& kernel : summary.topKernels)
        kernels.push_back({{"name", kernel.name},
                           {"count", kernel.count},
                           {"time_us", toUs(kernel.time)},
                           {"longest", kernel.longest ? longestJson(trace, *kernel.longest) : Json(nullptr)}});
    const Json workers = summary.workers ? Json(*summary.workers) : Json(nullptr);
    Json json = {{"schema", 1},
                 {"source", sourceJson(trace)},
                 {"counts", countsJson(summary.counts)},
                 {"kernel_time_us", summary.kernelUs},
                 {"kernels_under_10us", summary.shortKernels},
                 {"memcpy", transfersJson(summary.transfers)},
                 {"devices", devicesJson(summary.devices)},
                 {"steps", stepsJson(summary)},
                 {"between_steps", summary.statistics.count > 0 ? betweenJson(summary.between) : Json(nullptr)},
                 {"versions", versionsJson(trace)},
                 {"breakdown", breakdownJson(summary.breakdown)},
                 {"loader", {{"waits", summary.dataWaits}, {"time_us", summary.dataWaitUs}, {"workers", workers}}},
                 {"comm", communicationJson(summary.communication)},
                 {"sync",
                  {{"calls", summary.sync.calls},
                   {"time_us", toUs(summary.sync.time)},
                   {"blocking_copy_calls", summary.sync.blockingCopies},
                   {"blocking_copy_us", toUs(summary.sync.blockingCopyTime)}}},
                 {"idle", idle},
                 {"top_kernels", kernels},
                 {"memory", memoryJson(trace, summary)},
                 {"data_loss", lossJson(trace)}};
    if (!summary.ranks.empty()) {
        json["ranks"] = ranksJson(summary);
        json["job"] = jobJson(summary);
    }
    json["program"] = programJson(trace);
    if (summary.detailed)
        addDetailedAnalysis(json, *summary.detailed);
    return json;
}

Json toJson(const JobSummary& summary)
{
    Json json = toJson(*summary.frame, summary.all);
    json["source"]["rank"] = nullptr;
    json["source"]["world_size"] = summary.job.worldSize;
    if (summary.job.analysis.slowest)
        json["steps"]["rank"] = summary.job.ranks[*summary.job.analysis.slowest].rank;
    json["data_loss"] = {{"dropped", summary.dropped},
                         {"unmatched", summary.unmatched},
                         {"notes", textsJson(summary.losses)},
                         {"note_messages", messagesJson(summary.losses)}};
    json["ranks"] = ranksJson(summary);
    json["job"] = jobJson(summary);
    return json;
}

} // namespace app::terminal
