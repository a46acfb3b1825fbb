#include "advisor/evidence/program_facts.h"
#include "app/terminal/detailed_analysis_json.h"
#include "app/terminal/json_text.h"
#include "app/terminal/summary.h"

#include "profiler/analysis/device/occupancy.h"
#include "profiler/analysis/intervals.h"
#include "profiler/model/recording_end.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler;
using namespace profiler::analysis;
using Json = nlohmann::ordered_json;

Json textOrNull(const Trace& trace, std::string_view key)
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

namespace {

Json stepsJson(const Summary& summary)
{
    Json json = stepTimesJson(summary.statistics, summary.steps);
    if (!summary.steps.empty() && summary.steps.front().found)
        json["from"] = "repetition";
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
        versions[name] = textOrNull(trace, std::string("versions.") + name);
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

Json textOrNone(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

/// As the trace stores them: snapshots by line, in "op".
Json aliveJson(const MemoryMoment& moment)
{
    Json alive = Json::array();
    for (const MemoryHolder& holder : moment.alive)
        alive.push_back({{"op", textOrNone(holder.op)},
                         {"phase", textOrNone(holder.phase)},
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
                        {"file", textOrNone(holder.place.file)},
                        {"line", holder.place.empty() ? Json(nullptr) : Json(holder.place.line)},
                        {"function", textOrNone(holder.place.function)},
                        {"op", textOrNone(holder.op)},
                        {"phase", textOrNone(holder.phase)},
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

} // namespace

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

} // namespace app::terminal
