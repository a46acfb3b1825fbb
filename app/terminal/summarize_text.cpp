#include "advisor/advice.h"
#include "advisor/evidence/program_facts.h"
#include "advisor/report/detailed_analysis_tables.h"
#include "app/terminal/output.h"
#include "app/terminal/summarize.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/job/scaling.h"
#include "profiler/analysis/operators/range_name.h"
#include "profiler/analysis/steps/device_steps.h"
#include "profiler/model/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace app::terminal {

using namespace advisor;
using namespace profiler;
using namespace profiler::analysis;

namespace {

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kMostSettings = 8;
constexpr std::size_t kWidthOfSettings = 70;

/// Kinds of objects with one row per object, in this order; for calls, one row per call site.
constexpr std::array<std::string_view, 22> kKinds = {
    "trainer", "model",    "loader",     "optimizer", "scheduler",      "scaler", "autocast", "compile",
    "forward", "backward", "validation", "zero_grad", "optimizer_step", "clip",   "to",       "sync",
    "flag",    "anomaly",  "profiler",   "emit_nvtx", "save",           "log"};

std::string whereText(const ProgramFacts& facts, const std::optional<SourcePlace>& site)
{
    if (!site)
        return "-";
    const std::filesystem::path path(site->file), base(facts.workingDirectory);
    const std::filesystem::path relative = base.empty() ? path : path.lexically_relative(base);
    const bool below = !relative.empty() && *relative.begin() != "..";
    return fmt::format("{}:{}", (below ? relative : path).string(), site->line);
}

/// Settings that were passed explicitly come first, then important ones with default values.
std::string settingsText(const ProgramFacts& facts, const ProgramObject& object)
{
    std::vector<const ProgramSetting*> shown;
    for (const bool given : {true, false})
        for (const ProgramSetting& setting : object.settings)
            if (setting.given == given && !setting.value.is_null())
                shown.push_back(&setting);
    std::string text;
    for (std::size_t i = 0; i < std::min(shown.size(), kMostSettings); ++i) {
        std::string one = fmt::format("{}={}", shown[i]->name, settingText(shown[i]->value));
        if (!shown[i]->argument.empty())
            one += fmt::format(" (option {})", shown[i]->argument);
        else if (shown[i]->configuration)
            one += fmt::format(" ({})", whereText(facts, shown[i]->configuration));
        if (shownWidth(text) + shownWidth(one) > kWidthOfSettings && !text.empty()) {
            text += ", …";
            break;
        }
        text += (text.empty() ? "" : ", ") + one;
    }
    if (text.empty())
        if (const auto parameters = object.number("parameters"))
            text = fmt::format("{:.0f} parameters", *parameters);
    return text.empty() ? "-" : text;
}

/// Left-aligns text columns, because TextTable aligns all columns except the first to the right.
void padLeft(std::vector<std::vector<std::string>>& rows, std::size_t column)
{
    std::size_t width = 0;
    for (const auto& row : rows)
        width = std::max(width, shownWidth(row[column]));
    for (auto& row : rows)
        row[column].append(width - shownWidth(row[column]), ' ');
}

/// Tables of the parts of a recorded Python program, their settings, and where each is set; empty if the trace has no
/// such facts.
std::string programText(const profiler::Trace& trace)
{
    const ProgramDocument document = programOf(trace);
    if (!document.facts)
        return document.problem.empty() ? std::string() : "\n" + document.problem.text + "\n";
    const ProgramFacts& facts = *document.facts;
    std::vector<std::vector<std::string>> rows = {{"program", "settings", "where", "calls"}};
    std::size_t left = 0;
    for (const std::string_view kind : kKinds)
        for (const ProgramObject* object : facts.ofKind(kind)) {
            if (rows.size() > kMostRows) {
                ++left;
                continue;
            }
            std::string name(object->shortName());
            if (!object->role.empty())
                name += fmt::format(" ({})", object->role);
            else if (kind == "validation")
                name += " (validation)";
            rows.push_back({name, settingsText(facts, *object), whereText(facts, object->site),
                            object->count > 0 ? std::to_string(object->count) : "-"});
        }
    if (rows.size() == 1)
        return {};
    for (const std::size_t column : {1U, 2U})
        padLeft(rows, column);
    TextTable table(rows[0]);
    for (std::size_t row = 1; row < rows.size(); ++row)
        table.add(std::move(rows[row]));
    std::string text = "\nProgram: " + (facts.script.empty() ? facts.module : facts.script) + "\n" + table.text();
    if (left > 0)
        text += fmt::format("  {} more are in the JSON (--json).\n", left);
    return text;
}

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

/// "1 copy", "2,300 copies".
std::string counted(std::int64_t count, std::string_view one, std::string_view many)
{
    return fmt::format("{} {}", countText(count), count == 1 ? one : many);
}

std::string countsText(const Summary& summary)
{
    const Summary::Counts& counts = summary.counts;
    std::string text = counted(counts.events, "event", "events");
    struct Kind {
        const char *one, *many;
        std::int64_t count;
    };
    for (const Kind& kind :
         {Kind{"kernel", "kernels", counts.kernel}, Kind{"copy", "copies", counts.memcpy},
          Kind{"memset", "memsets", counts.memset}, Kind{"runtime call", "runtime calls", counts.runtime},
          Kind{"operator", "operators", counts.cpuOp}, Kind{"NVTX range", "NVTX ranges", counts.nvtx}})
        if (kind.count > 0)
            text += " · " + counted(kind.count, kind.one, kind.many);
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
        text += counted(stats.dropped, "event was", "events were") + " dropped.\n";
    if (stats.unmatched > 0)
        text += counted(stats.unmatched, "unmatched event", "unmatched events") + " (without a launch or an end).\n";
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
    table.add({fmt::format("{}, {} of them steady", counted(s.count, "step", "steps"), s.steadyCount),
               s.steadyCount > 0 ? timeText(s.steadyMeanUs) : "-", timeText(s.medianUs), timeText(s.p90Us),
               timeText(s.minUs), timeText(s.maxUs)});
    const char* const found = summary.steps.front().found
                                  ? " (the trace marks no steps; these were inferred from repeated work, --steps-from "
                                    "marks turns this off)"
                                  : "";
    const char* const onDevice = areMeasuredOnDevice(summary.steps)
                                     ? "  The CPU launched these steps long before the GPU ran them: their times are "
                                       "those of the GPU.\n"
                                     : "";
    return std::string("\nStep times") + found + '\n' + table.text() + onDevice;
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
        return fmt::format("\n  {} for the loader took {}.{}\n", counted(summary.dataWaits, "wait", "waits"),
                           timeText(summary.dataWaitUs),
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
        idle.add(
            {cause.cause == "queued" ? std::string("queued (launched, but not started)") : std::string(cause.cause),
             timeText(toUs(cause.time))});
    TextTable copies({"Copies", "from", "to", "count", "bytes", "time", "GB/s"});
    for (const Transfer& t : summary.transfers)
        copies.add({std::string(copyKindName(t.kind)), std::string(memoryKindName(t.src)),
                    std::string(memoryKindName(t.dst)), countText(t.count),
                    t.bytes > 0 ? bytesText(t.bytes) : "–", // ROCm's profiler does not record sizes
                    timeText(toUs(t.time)), t.bytes > 0 ? fmt::format("{:.2f}", t.gbPerSecond()) : "–"});
    TextTable kernels({"Kernel", "count", "time"});
    for (const KernelTotal& kernel : summary.topKernels)
        kernels.add({shortName(kernel.name), countText(kernel.count), timeText(toUs(kernel.time))});
    for (const TextTable* table : {&devices, &idle, &copies, &kernels})
        if (!table->empty())
            text += "\n" + table->text();
    if (summary.sync.calls > 0)
        text +=
            fmt::format("\n  {} took {}.\n", counted(summary.sync.calls, "synchronizing call", "synchronizing calls"),
                        timeText(toUs(summary.sync.time)));
    if (summary.sync.blockingCopies > 0)
        text += fmt::format("  {} took {}.\n", counted(summary.sync.blockingCopies, "blocking copy", "blocking copies"),
                            timeText(toUs(summary.sync.blockingCopyTime)));
    if (const Communication& comm = summary.communication; comm.kernels > 0)
        text += fmt::format("  {} took {}, {} of it while no other kernel ran.\n",
                            counted(comm.kernels, "communication kernel", "communication kernels"),
                            timeText(toUs(comm.time)), timeText(toUs(comm.exposed)));
    return text;
}

std::string holderText(const LiveBlocks& holder)
{
    if (holder.rest)
        return "all smaller holders";
    if (holder.unrecorded)
        return "before the recording";
    if (!holder.place.empty())
        return fmt::format("{}:{}{}{}", holder.place.file, holder.place.line, holder.op.empty() ? "" : " ", holder.op);
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

constexpr std::size_t kWidth = 110;
constexpr std::size_t kMostRanks = 32; ///< in the table; the JSON contains all of them
constexpr std::size_t kMostJobRows = 12, kMostNumbers = 16;
// Work above the mean that is worth a line, and how much of a step it takes at least.
constexpr double kUneven = 0.05, kLeastOfStep = 0.01;

std::string numbersText(const std::vector<std::int64_t>& numbers)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(numbers.size(), kMostNumbers); ++i)
        text += fmt::format("{}{}", i > 0 ? ", " : "", numbers[i]);
    return numbers.size() > kMostNumbers ? text + fmt::format(" and {} more", numbers.size() - kMostNumbers) : text;
}

std::string headingText(const JobSummary& summary)
{
    const job::Job& job = summary.job;
    const JobAnalysis& analysis = job.analysis;
    std::string text =
        fmt::format("Job of {} rank{}, {} recorded · {} step{} in common · step {} · efficiency {}\n", job.worldSize,
                    job.worldSize == 1 ? "" : "s", job.ranks.size(), analysis.steps.size(),
                    analysis.steps.size() == 1 ? "" : "s", timeText(analysis.stepUs), shareText(analysis.efficiency));
    text += analysis.clock.refined
                ? fmt::format("Clocks are aligned by {} collectives, to within {}.\n", countText(analysis.matched),
                              timeText(toUs(analysis.clock.error)))
                : "No collective connects the ranks: their clocks are aligned by the time of day only.\n";
    if (!job.missing.empty())
        text += wrapped(fmt::format("Missing ranks: {}.", numbersText(job.missing)), kWidth, 0);
    for (const job::ExcludedFile& file : job.excluded)
        text += wrapped(fmt::format("Left out: {}: {}", file.file.string(), file.why.text), kWidth, 0);
    for (const auto* notes : {&job.notes, &analysis.notes})
        for (const Message& note : *notes)
            text += wrapped(note.text, kWidth, 0);
    return text;
}

std::string stragglersText(const JobSummary& summary)
{
    const JobAnalysis& analysis = summary.job.analysis;
    if (analysis.stragglers.empty())
        return analysis.matched > 0 ? "\nNo rank delays the others.\n" : "";
    std::string text = "\nRanks that delay the others\n";
    for (const Straggler& straggler : analysis.stragglers) {
        const RankDigest& rank = summary.job.ranks[straggler.rank];
        std::string when = straggler.always ? "in every step" : "in step " + numbersText(straggler.steps);
        if (straggler.wholeHost)
            when += ", like the other ranks of " + rank.host;
        text += wrapped(straggler.reason.text + " (" + when + ")", kWidth, 2);
    }
    return text;
}

std::string ranksText(const JobSummary& summary)
{
    TextTable table({"Rank", "host", "step", "busy", "exposed", "waits", "transfer", "late"});
    const JobAnalysis& analysis = summary.job.analysis;
    std::vector<std::size_t> shown(summary.job.ranks.size());
    for (std::size_t i = 0; i < shown.size(); ++i)
        shown[i] = i;
    const bool all = shown.size() <= kMostRanks;
    if (!all) {
        std::ranges::stable_sort(shown, std::greater(), [&](std::size_t i) { return analysis.ranks[i].lateUs; });
        shown.resize(kMostRanks);
    }
    for (const std::size_t i : shown) {
        const RankDigest& digest = summary.job.ranks[i];
        const JobRank& rank = analysis.ranks[i];
        table.add({std::to_string(digest.rank), digest.host.empty() ? "-" : digest.host, timeText(rank.stepUs),
                   shareText(digest.busy), timeText(rank.exposedUs), timeText(rank.waitUs), timeText(rank.transferUs),
                   rank.lateUs > 0 ? timeText(rank.lateUs) : "-"});
    }
    return "\n" + table.text() +
           (all ? "  Times of communication per step. Waits: for other ranks in collectives.\n"
                : fmt::format("  The {} latest of {} ranks; times of communication per step.\n", kMostRanks,
                              summary.job.ranks.size()));
}

/// Pipeline bubbles, and work that is divided unevenly.
std::string workText(const job::Job& job)
{
    const JobAnalysis& analysis = job.analysis;
    const JobTime time = jobTime({job.ranks, analysis});
    const double unevenUs = analysis.computeImbalance * time.part(JobTimePart::Compute);
    std::string text;
    if (analysis.pipeline)
        text += fmt::format(
            "  Pipeline{}: a stage has no work between its first and last micro-batch for {} of a step.\n",
            analysis.pipeline->stages > 0 ? fmt::format(" of {} stages", analysis.pipeline->stages) : std::string(),
            shareText(analysis.pipeline->bubble));
    if (analysis.computeImbalance >= kUneven && unevenUs >= kLeastOfStep * time.stepUs)
        text += fmt::format("  Compute is uneven: the rank with the most takes {} longer than the mean.\n",
                            shareText(analysis.computeImbalance));
    if (analysis.exchangeImbalance >= kUneven)
        text += fmt::format("  All-to-alls are uneven: the rank with the most bytes has {} more than the mean.\n",
                            shareText(analysis.exchangeImbalance));
    return text.empty() ? text : "\nHow the work is divided\n" + text;
}

std::string communicationText(const JobAnalysis& analysis)
{
    TextTable groups({"Group", "communicators", "size", "exposed per step", "waits", "transfer"});
    for (const GroupUse& use : analysis.groups)
        groups.add({std::string(groupRoleName(use.role)), countText(use.groups), countText(use.size),
                    timeText(use.exposedUs), timeText(use.waitUs), timeText(use.transferUs)});
    TextTable collectives(
        {"Collective", "group", "ranks", "size", "count", "transfer", "waits", "bus GB/s", "best", "link"});
    const auto rate = [](double value) { return value > 0 ? fmt::format("{:.1f}", value) : "-"; };
    for (std::size_t i = 0; i < std::min(kMostJobRows, analysis.collectives.size()); ++i) {
        const CollectiveUse& use = analysis.collectives[i];
        collectives.add({std::string(collectiveName(use.kind)), std::string(groupRoleName(use.role)),
                         countText(use.ranks), use.bytes > 0 ? bytesText(use.bytes) : "-", countText(use.count),
                         timeText(use.transferUs), timeText(use.waitUs), rate(use.busGbPerS), rate(use.bestBusGbPerS),
                         rate(use.linkGbPerS)});
    }
    std::string text;
    for (const TextTable* table : {&groups, &collectives})
        if (!table->empty())
            text += "\n" + table->text();
    if (!collectives.empty())
        text += "  Best: of the same collective. Link: of any collective within a host, or between hosts.\n";
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

std::string toText(const JobSummary& summary)
{
    return headingText(summary) + stragglersText(summary) + ranksText(summary) + workText(summary.job) +
           communicationText(summary.job.analysis) + "\nAll ranks together; steps and phases are those of " +
           (summary.job.analysis.slowest ? fmt::format("rank {}", summary.job.ranks[*summary.job.analysis.slowest].rank)
                                         : std::string("one rank")) +
           "\n" + toText(*summary.frame, summary.all);
}

} // namespace app::terminal
