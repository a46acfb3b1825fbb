#include "app/terminal/summary.h"

#include "advisor/numbers.h"
#include "advisor/report/detailed_analysis_tables.h"
#include "app/terminal/program_text.h"
#include "app/terminal/text_table.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/operators/range_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler;
using namespace profiler::analysis;

/// With its template arguments, the name of a kernel may fill a screen.
std::string shortName(std::string_view name)
{
    constexpr std::size_t kMost = 72;
    if (name.starts_with("void "))
        name.remove_prefix(5);
    return name.size() > kMost ? fmt::format("{}…", name.substr(0, kMost)) : std::string(name);
}

/// "4 × NVIDIA H100"
std::string devicesText(const Trace& trace)
{
    std::map<std::string, int> names;
    for (const Device& device : trace.devices())
        ++names[device.name.empty() ? "unnamed device" : device.name];
    std::string text;
    for (const auto& [name, count] : names)
        text += count == 1 ? " · " + name : fmt::format(" · {} × {}", count, name);
    return text;
}

std::string sourceText(const Trace& trace)
{
    std::string text = "Source: " + std::string(trace.format());
    for (const char* key : {"workload", "device"})
        if (const auto entry = trace.metadata().find(key); entry != trace.metadata().end())
            text += " · " + entry->second;
    text += devicesText(trace);
    for (const char* name : {"torch", "cuda_driver", "cuda_runtime", "cudnn", "nccl"})
        if (const auto entry = trace.metadata().find(std::string("versions.") + name); entry != trace.metadata().end())
            text += fmt::format(" · {} {}", name, entry->second);
    return text + '\n';
}

std::string countsText(const Summary& summary)
{
    const Summary::Counts& counts = summary.counts;
    std::string text = fmt::format("{} events", countText(counts.events));
    const std::pair<const char*, std::int64_t> kinds[] = {
        {"kernels", counts.kernel},        {"copies", counts.memcpy},   {"memsets", counts.memset},
        {"runtime calls", counts.runtime}, {"operators", counts.cpuOp}, {"NVTX ranges", counts.nvtx}};
    for (const auto& [name, number] : kinds)
        if (number > 0)
            text += fmt::format(" · {} {}", countText(number), name);
    if (counts.kernel > 0)
        text += fmt::format("\nKernels took {}; {} of them took less than 10 µs.", timeText(summary.kernelUs),
                            countText(summary.shortKernels));
    return text + '\n';
}

std::string heading(const Trace& trace, const Summary& summary)
{
    std::string text = sourceText(trace) + countsText(summary);
    const CaptureStats stats = trace.losses();
    if (stats.dropped > 0)
        text += fmt::format("{} events were dropped.\n", countText(stats.dropped));
    if (stats.unmatched > 0)
        text += fmt::format("{} unmatched events (without a launch or an end).\n", countText(stats.unmatched));
    if (stats.cut)
        text += "The trace is incomplete: the run was interrupted, or part of the file is missing.\n";
    for (const Message& note : stats.notes)
        text += note.text + '\n';
    return text;
}

/// The ranks of the trace, and which rank's steps and parts are shown.
std::string ranksText(const Summary& summary)
{
    if (summary.ranks.empty())
        return {};
    TextTable table({"Rank", "process", "devices", "steps", "steady mean", "device busy"});
    for (const Summary::RankSummary& row : summary.ranks) {
        std::string devices;
        for (const DeviceId device : row.rank.devices)
            devices += fmt::format("{}{}", devices.empty() ? "" : ", ", device.value);
        double busyUs = 0, spanUs = 0;
        for (const DeviceUse& device : row.devices) {
            busyUs += toUs(device.busyAny);
            spanUs += toUs(device.span);
        }
        table.add({std::to_string(row.rank.number), row.rank.name, devices.empty() ? "-" : devices,
                   countText(row.statistics.count),
                   row.statistics.steadyCount > 0 ? timeText(row.statistics.steadyMeanUs) : "-",
                   spanUs > 0 && !row.rank.sharesDevices ? shareText(busyUs / spanUs) : "-"});
    }
    std::string text = "\n" + table.text();
    if (summary.statistics.count > 0)
        text += fmt::format("  Step times and phases are those of rank {}, the slowest rank.\n",
                            summary.ranks[*summary.slowestRank].rank.number);
    if (summary.ranks.front().rank.sharesDevices)
        text += "  The trace does not show which rank launched what: device figures are those of all ranks.\n";
    return text;
}

/// Candidates for --step-range, because users often do not know the range names of a program.
std::string candidatesText(const Trace& trace)
{
    constexpr std::size_t kNamed = 10;
    std::string names;
    for (const RepeatedRange& range : countedRanges(trace, kNamed))
        names += fmt::format("{}{} ({} times)", names.empty() ? "" : ", ", range.name, range.count);
    return names.empty() ? names
                         : wrapped("--step-range uses ranges with one of these names as steps: " + names + '.', 110, 0);
}

std::string stepsText(const Trace& trace, const Summary& summary)
{
    const StepStatistics& s = summary.statistics;
    if (s.count == 0)
        return "\nThe trace marks no steps, and none were detected from repeated work.\n" + candidatesText(trace);
    TextTable table({"", "steady mean", "median", "90th percentile", "min", "max"});
    table.add({fmt::format("{} step{}, {} of them steady", s.count, s.count == 1 ? "" : "s", s.steadyCount),
               s.steadyCount > 0 ? timeText(s.steadyMeanUs) : "-", timeText(s.medianUs), timeText(s.p90Us),
               timeText(s.minUs), timeText(s.maxUs)});
    return (summary.steps.front().found
                ? "\nStep times (the trace marks no steps; these were inferred from repeated work, "
                  "--steps-from marks turns this off)\n"
                : "\nStep times\n") +
           table.text();
}

std::string partsText(const Summary& summary)
{
    const StepStatistics& s = summary.statistics;
    if (s.steadyCount == 0)
        return {};
    const StepParts& p = s.steadyMeanParts;
    const std::pair<std::string_view, Nanoseconds> parts[] = {
        {phase::kDataWait, p.dataWait}, {phase::kCopy, p.copy},
        {phase::kZeroGrad, p.zeroGrad}, {phase::kForward, p.forward},
        {phase::kBackward, p.backward}, {phase::kOptimizer, p.optimizer},
        {phase::kMetrics, p.metrics},   {"other", p.other}};
    TextTable table({"Steady step", "time", "share"});
    for (const auto& [name, time] : parts)
        if (time.count() > 0)
            table.add({std::string(name), timeText(toUs(time)), shareText(toUs(time) / s.steadyMeanUs)});
    return "\n" + table.text();
}

/// What the process does between its steps.
std::string betweenText(const BetweenSteps& between)
{
    if (between.share() < kLeastBetweenSteps)
        return {};
    const auto share = [&](Nanoseconds time) { return shareText(toUs(time) / toUs(between.span)); };
    TextTable table({"Between the steps", "count", "time", "share"});
    for (const BetweenSteps::Phase& phase : between.phases)
        table.add({phase.name, countText(phase.count), timeText(toUs(phase.time)), share(phase.time)});
    if (between.other.count() > 0)
        table.add({"other", "-", timeText(toUs(between.other)), share(between.other)});
    table.add({"all", "-", timeText(toUs(between.time)), share(between.time)});
    return "\n" + table.text() +
           fmt::format("  From the first step to the last one: {}.\n", timeText(toUs(between.span)));
}

std::string breakdownText(const Breakdown& breakdown)
{
    TextTable table({"Where step time goes", "share"});
    for (std::size_t i = 0; i < kTimeClasses; ++i)
        if (breakdown.time[i].count() > 0)
            table.add({std::string(timeClassName(static_cast<TimeClass>(i))),
                       shareText(breakdown.share(static_cast<TimeClass>(i)))});
    return table.empty() ? std::string() : "\n" + table.text();
}

std::string loaderText(const Summary& summary)
{
    const InputWait& input = summary.input;
    if (input.loadUsPerBatch == 0 && summary.dataWaits > 0)
        return fmt::format("\n  {} waits for the loader took {}.{}\n", summary.dataWaits, timeText(summary.dataWaitUs),
                           summary.workers == 0 ? " The main thread loads: there are no workers." : "");
    if (input.loadUsPerBatch == 0)
        return {};
    TextTable table({"Loading per batch", "time", "share"});
    for (const InputWait::Stage& stage : input.stages)
        table.add({stage.name, timeText(stage.usPerBatch), shareText(stage.share)});
    table.add({"all", timeText(input.loadUsPerBatch), shareText(1)});
    std::string text = "\n" + table.text();
    if (input.workers == 0)
        return text + "  The main thread loads; the step waits during that time.\n";
    return text + fmt::format("  {} worker{}, busy {} of the time; 90th percentile per batch {}.\n", input.workers,
                              input.workers == 1 ? "" : "s", shareText(input.workerBusyShare),
                              timeText(input.loadUsPerBatchP90));
}

std::string deviceText(const Summary& summary)
{
    std::string text;
    TextTable devices({"Device", "busy", "of", "kernels", "streams"});
    for (const DeviceUse& d : summary.devices)
        devices.add({d.name.empty() ? fmt::format("device {}", d.id.value) : d.name, timeText(toUs(d.busyAny)),
                     timeText(toUs(d.span)), timeText(toUs(d.busyKernel)), countText(d.streams)});
    TextTable idle({"Cause of device idle time", "time"});
    for (const IdleCause& cause : summary.idle)
        idle.add({std::string(cause.cause), timeText(toUs(cause.time))});
    TextTable copies({"Copies", "from", "to", "count", "bytes", "time", "GB/s"});
    for (const Transfer& t : summary.transfers)
        copies.add({std::string(copyKindName(t.kind)), std::string(memoryKindName(t.src)),
                    std::string(memoryKindName(t.dst)), countText(t.count), bytesText(t.bytes), timeText(toUs(t.time)),
                    fmt::format("{:.2f}", t.gbPerSecond())});
    TextTable kernels({"Kernel", "count", "time"});
    for (const KernelTotal& kernel : summary.topKernels)
        kernels.add({shortName(kernel.name), countText(kernel.count), timeText(toUs(kernel.time))});
    for (const TextTable* table : {&devices, &idle, &copies, &kernels})
        if (!table->empty())
            text += "\n" + table->text();
    if (summary.sync.calls > 0)
        text +=
            fmt::format("\n  {} synchronizing calls took {}.\n", summary.sync.calls, timeText(toUs(summary.sync.time)));
    if (summary.sync.blockingCopies > 0)
        text += fmt::format("  {} blocking copies took {}.\n", summary.sync.blockingCopies,
                            timeText(toUs(summary.sync.blockingCopyTime)));
    if (const Communication& comm = summary.communication; comm.kernels > 0)
        text += fmt::format("  {} communication kernels took {}, of which {} were not overlapped by other kernels.\n",
                            comm.kernels, timeText(toUs(comm.time)), timeText(toUs(comm.exposed)));
    return text;
}

std::string holderText(const LiveBlocks& holder)
{
    if (holder.rest)
        return "all smaller holders";
    if (!holder.place.empty())
        return fmt::format("{}:{}", holder.place.file, holder.place.line);
    return holder.op.empty() ? "outside of operators, or not recorded" : holder.op;
}

std::string memoryText(const Trace& trace, const DeviceMemory& device, const MemoryState& state)
{
    constexpr std::size_t kMost = 8; // the JSON contains all of them
    const std::string at =
        state.time ? ", " + positionText(*state.time - trace.range().begin, 6) + " after the start" : std::string();
    const std::string bytes = bytesText(state.bytes);
    std::string text =
        state.ranOut && state.asked
            ? fmt::format("\n{} memory ran out when {} were requested and {} were allocated{}.\n", device.place,
                          bytesText(*state.asked), bytes, at)
        : state.ranOut ? fmt::format("\n{} memory ran out when {} were allocated{}.\n", device.place, bytes, at)
                       : fmt::format("\n{} memory peaked at {}{}{}.\n", device.place, bytes,
                                     device.sinceBegin ? " (without what was allocated before the recording)" : "", at);
    TextTable categories({"Category", "memory", "share of allocated"});
    for (std::size_t i = 0; i < kMemoryCategories; ++i) {
        const auto category = static_cast<MemoryCategory>(i);
        const bool isFree = category == MemoryCategory::Fragmented || category == MemoryCategory::Cached;
        if (state.sample.bytes[i] > 0)
            categories.add({std::string(memoryCategoryName(category)), bytesText(state.sample.bytes[i]),
                            isFree || state.bytes == 0 ? "-"
                                                       : shareText(static_cast<double>(state.sample.bytes[i]) /
                                                                   static_cast<double>(state.bytes))});
    }
    if (!categories.empty())
        text += categories.text();
    TextTable holders({"Allocated at", "category", "phase", "step", "held", "blocks"});
    for (std::size_t i = 0; i < std::min(kMost, state.holders.size()); ++i) {
        const LiveBlocks& holder = state.holders[i];
        holders.add({holderText(holder), holder.rest ? "-" : std::string(memoryCategoryName(holder.category)),
                     holder.phase.empty() ? "-" : holder.phase, holder.step ? std::to_string(*holder.step) : "-",
                     bytesText(holder.bytes), holder.blocks > 0 ? countText(holder.blocks) : "-"});
    }
    if (!holders.empty())
        text += holders.text();
    return text;
}

std::string memoryText(const Trace& trace, const Summary& summary)
{
    std::string text;
    for (const bool ranOut : {true, false})
        for (const DeviceMemory& device : summary.memoryUse)
            for (const MemoryState& state : device.moments)
                if (state.ranOut == ranOut)
                    text += memoryText(trace, device, state);
    return text;
}

/// The JSON contains all rows.
std::string detailedAnalysisText(const Trace& trace, const DetailedAnalysis& analysis)
{
    constexpr std::size_t kMost = 8, kWidth = 110;
    std::string text;
    for (const AnalysisTable& table : detailedAnalysisTables(trace, analysis, kMost)) {
        std::vector<std::string> header;
        std::vector<bool> numbers;
        for (const AnalysisTable::Column& column : table.columns) {
            header.push_back(column.title);
            numbers.push_back(column.number);
        }
        TextTable shown(std::move(header), std::move(numbers));
        for (const AnalysisTable::Row& row : table.rows) {
            std::vector<std::string> cells;
            for (const AnalysisTable::Cell& cell : row.cells)
                cells.push_back(shortName(cell.text));
            shown.add(std::move(cells));
        }
        text += "\n" + table.heading + "\n" + shown.text();
        if (!table.note.empty())
            text += wrapped(table.note, kWidth, 2);
    }
    return text;
}

} // namespace

std::string toText(const Trace& trace, const Summary& summary)
{
    return heading(trace, summary) + ranksText(summary) + stepsText(trace, summary) + partsText(summary) +
           betweenText(summary.between) + breakdownText(summary.breakdown) + loaderText(summary) + deviceText(summary) +
           memoryText(trace, summary) + programText(trace) +
           (summary.detailed ? detailedAnalysisText(trace, *summary.detailed) : std::string());
}

} // namespace app::terminal
