#include "advisor/cli/summary.h"

#include "advisor/cli/text_table.h"
#include "advisor/numbers.h"
#include "profiler/analysis/intervals.h"

#include <fmt/format.h>

namespace advisor::cli {

namespace {

using namespace profiler;
using namespace profiler::analysis;

std::string heading(const Trace& trace, const Summary& summary)
{
    std::string text = fmt::format("{} events", summary.counts.events);
    for (const char* key : {"workload", "device"})
        if (const auto entry = trace.metadata().find(key); entry != trace.metadata().end())
            text = entry->second + " · " + text;
    const CaptureStats& stats = trace.captureStats();
    if (stats.dropped > 0)
        text += fmt::format(" · {} dropped", stats.dropped);
    if (stats.cut)
        text += " · cut: the run did not end by itself";
    for (const std::string& note : stats.notes)
        text += "\n" + note;
    return text + '\n';
}

std::string stepsText(const Summary& summary)
{
    const StepStatistics& s = summary.statistics;
    if (s.count == 0)
        return "\nNo steps are marked.\n";
    TextTable table({"", "steady mean", "median", "90 % below", "min", "max"});
    table.add({fmt::format("{} steps, {} of them steady", s.count, s.steadyCount),
               s.steadyCount > 0 ? timeText(s.steadyMeanUs) : "-", timeText(s.medianUs), timeText(s.p90Us),
               timeText(s.minUs), timeText(s.maxUs)});
    return "\nStep times\n" + table.text();
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
    TextTable table({"A steady step", "time", "share"});
    for (const auto& [name, time] : parts)
        table.add({std::string(name), timeText(toUs(time)), shareText(toUs(time) / s.steadyMeanUs)});
    return "\n" + table.text();
}

std::string breakdownText(const Breakdown& breakdown)
{
    TextTable table({"Where the steps' time goes", "share"});
    for (std::size_t i = 0; i < kTimeClasses; ++i)
        if (breakdown.time[i].count() > 0)
            table.add({std::string(timeClassName(static_cast<TimeClass>(i))),
                       shareText(breakdown.share(static_cast<TimeClass>(i)))});
    return table.empty() ? std::string() : "\n" + table.text();
}

std::string loaderText(const InputWait& input)
{
    if (input.loadUsPerBatch == 0)
        return {};
    TextTable table({"Loading a batch", "time", "share"});
    for (const InputWait::Stage& stage : input.stages)
        table.add({stage.name, timeText(stage.usPerBatch), shareText(stage.share)});
    table.add({"all", timeText(input.loadUsPerBatch), shareText(1)});
    std::string text = "\n" + table.text();
    if (input.workers == 0)
        return text + "  The main thread loads; the step waits meanwhile.\n";
    return text + fmt::format("  {} worker{}, busy {} of the time; nine batches of ten load within {}.\n",
                              input.workers, input.workers == 1 ? "" : "s", shareText(input.workerBusyShare),
                              timeText(input.loadUsPerBatchP90));
}

std::string deviceText(const Summary& summary)
{
    std::string text;
    TextTable devices({"Device", "busy", "of", "kernels", "streams"});
    for (const DeviceUse& d : summary.devices)
        devices.add({d.name.empty() ? fmt::format("device {}", d.id.value) : d.name, timeText(toUs(d.busyAny)),
                     timeText(toUs(d.span)), timeText(toUs(d.busyKernel)), std::to_string(d.streams)});
    TextTable idle({"Device idle because of", "time"});
    for (const IdleCause& cause : summary.idle)
        idle.add({std::string(cause.cause), timeText(toUs(cause.time))});
    TextTable copies({"Copies", "from", "to", "count", "bytes", "time", "GB/s"});
    for (const Transfer& t : summary.transfers)
        copies.add({std::string(copyKindName(t.kind)), std::string(memoryKindName(t.src)),
                    std::string(memoryKindName(t.dst)), std::to_string(t.count), std::to_string(t.bytes),
                    timeText(toUs(t.time)), fmt::format("{:.2f}", t.gbPerSecond())});
    TextTable kernels({"Kernel", "count", "time"});
    for (const KernelTotal& kernel : summary.topKernels)
        kernels.add({kernel.name, std::to_string(kernel.count), timeText(toUs(kernel.time))});
    for (const TextTable* table : {&devices, &idle, &copies, &kernels})
        if (!table->empty())
            text += "\n" + table->text();
    if (summary.sync.calls > 0)
        text +=
            fmt::format("\n  {} synchronizing calls took {}.\n", summary.sync.calls, timeText(toUs(summary.sync.time)));
    return text;
}

} // namespace

std::string toText(const Trace& trace, const Summary& summary)
{
    return heading(trace, summary) + stepsText(summary) + partsText(summary) + breakdownText(summary.breakdown) +
           loaderText(summary.input) + deviceText(summary);
}

} // namespace advisor::cli
