#include "app/terminal/summarize.h"

#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/output.h"
#include "profiler/analysis/detailed_analysis.h"
#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/slow_step.h"
#include "profiler/model/number_text.h"
#include "profiler/model/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <ostream>
#include <set>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace app::terminal {

using namespace advisor;
using namespace profiler;
using namespace profiler::analysis;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTopKernels = 10;
constexpr unsigned kMostWalkers = 8; // beyond this number, only a few tracks benefit

Summary::Counts countsOf(const ActivityScan& scan)
{
    const auto count = [&](ActivityKind kind) { return scan.of(kind).count; };
    return {.events = 0,
            .kernel = count(ActivityKind::Kernel),
            .memcpy = count(ActivityKind::GpuMemcpy),
            .memset = count(ActivityKind::GpuMemset),
            .runtime = count(ActivityKind::CudaRuntime) + count(ActivityKind::CudaDriver),
            .cpuOp = count(ActivityKind::CpuOp),
            .nvtx = count(ActivityKind::Nvtx)};
}

/// Numbers as counted by the importer, because not every entry of a file becomes a slice of the kind in the file.
std::int64_t counted(const Trace& trace, std::string_view key, std::int64_t otherwise)
{
    if (const auto entry = trace.metadata().find(key); entry != trace.metadata().end())
        std::from_chars(entry->second.data(), entry->second.data() + entry->second.size(), otherwise);
    return otherwise;
}

/// PyTorch's profiler records the name of the loader iterator, but not the number of workers.
std::optional<int> workersOf(const Trace& trace, const Summary& summary)
{
    // A recording that began after the workers has none of their work.
    const auto used = trace.metadata().find("loader.workers");
    if (summary.input.workers == 0 && used != trace.metadata().end() && used->second != "0")
        return std::nullopt;
    if (trace.format() == "stepscope") // without steps, workers cannot be distinguished from those of another run
        return summary.statistics.steadyCount > 0 ? std::optional(summary.input.workers) : std::nullopt;
    const auto isOfMainThread = [](std::string_view name) {
        return name.starts_with("enumerate(DataLoader)#_SingleProcessDataLoaderIter");
    };
    return anyName(trace, isOfMainThread) ? std::optional(0) : std::nullopt;
}

void addTo(Breakdown& sum, const Breakdown& more)
{
    for (std::size_t i = 0; i < kTimeClasses; ++i)
        sum.time[i] += more.time[i];
    sum.total += more.total;
}

void addTo(std::vector<IdleCause>& sum, std::vector<IdleCause> more)
{
    for (IdleCause& cause : more) {
        const auto known = std::ranges::find(sum, cause.cause, &IdleCause::cause);
        if (known == sum.end())
            sum.push_back(std::move(cause));
        else
            known->time += cause.time;
    }
    std::ranges::stable_sort(sum, std::greater(), &IdleCause::time);
}

/// Figures of each rank. In the figures of the job, values that would mix one rank's host with another rank's devices
/// are avoided: the breakdown and idle time are sums over ranks; steps and loader are those of the slowest rank.
void summarizeRanks(const Trace& trace, unsigned threads, Summary& summary)
{
    std::vector<Rank> ranks = ranksOf(trace, summary.steps);
    if (ranks.empty())
        return;
    const std::int64_t slowest = representativeRank(ranks, trace, summary.steps).process;
    Breakdown whole;
    std::vector<IdleCause> idle;
    for (Rank& rank : ranks) {
        const ActivityScan scan = scanActivity(*rank.trace, threads);
        Summary::RankSummary row;
        row.statistics = stepStatistics(rank.steps);
        row.devices = deviceUse(*rank.trace, scan);
        row.breakdown = breakdown(*rank.trace, scan, rank.steps);
        row.communication = communication(scan);
        addTo(whole, row.breakdown);
        const auto queued = queuedGaps(*rank.trace, scan);
        addTo(idle, idleCauses(scan, {}, &queued));
        if (rank.process == slowest) {
            summary.slowestRank = summary.ranks.size();
            if (!rank.steps.empty()) {
                summary.steps = rank.steps;
                summary.statistics = row.statistics;
                summary.between = betweenSteps(*rank.trace, rank.steps);
                summary.input = inputWait(*rank.trace, rank.steps, deviceBusy(scan));
            }
        }
        row.rank = std::move(rank);
        summary.ranks.push_back(std::move(row));
    }
    if (whole.total.count() > 0)
        summary.breakdown = whole;
    if (!summary.ranks.front().rank.sharesDevices)
        summary.idle = std::move(idle);
}

/// Everything that depends on neither the steps nor the number of ranks.
Summary scanSummary(const Trace& trace, const ActivityScan& scan)
{
    Summary summary;
    summary.counts = countsOf(scan);
    summary.counts.events = counted(trace, "source.events", static_cast<std::int64_t>(trace.sliceCount()));
    summary.counts.cpuOp += counted(trace, "source.marked_ops", 0); // older profilers mark steps with an operator
    summary.kernelUs = toUs(scan.of(ActivityKind::Kernel).time);
    summary.shortKernels = scan.shortKernels;
    summary.dataWaits = scan.dataWaits.count;
    summary.dataWaitUs = toUs(scan.dataWaits.time);
    summary.transfers = scan.transfers;
    summary.devices = deviceUse(trace, scan);
    summary.communication = communication(scan);
    summary.sync = syncUse(scan);
    const auto queued = queuedGaps(trace, scan);
    summary.idle = idleCauses(scan, {}, &queued);
    summary.topKernels = scan.kernels;
    return summary;
}

void addSteps(const Trace& trace, const ActivityScan& scan, std::vector<Step> steps, Summary& summary)
{
    summary.steps = std::move(steps);
    summary.statistics = stepStatistics(summary.steps);
    summary.between = betweenSteps(trace, summary.steps);
    summary.breakdown = breakdown(trace, scan, summary.steps);
    summary.input = inputWait(trace, summary.steps, deviceBusy(scan));
}
constexpr std::size_t kMostLossNotes = 20;

std::shared_ptr<const Trace> frameOf(const Trace& trace)
{
    return TraceBuilder::ofTracks(trace, std::vector<bool>(trace.tracks().size(), false));
}

/// Collects the figures of the ranks while their traces are in memory.
class Collecting {
public:
    /// Called on several threads.
    void add(const job::LoadedRank& rank)
    {
        Summary summary = rankSummaryOf(*rank.trace, rank.scan, rank.steps);
        const CaptureStats losses = rank.trace->losses();
        const std::scoped_lock lock(m_mutex);
        m_files.resize(std::max(m_files.size(), rank.file + 1));
        m_files[rank.file] = {std::move(summary), losses};
        if (!m_frame)
            m_frame = frameOf(*rank.trace);
    }

    JobSummary take(job::Job job)
    {
        JobSummary found;
        found.frame = m_frame;
        const std::size_t shown = job.fileOf[job.analysis.slowest.value_or(0)];
        add(found, shown); // its steps are those of the job
        for (const std::size_t file : std::set<std::size_t>(job.fileOf.begin(), job.fileOf.end()))
            if (file != shown)
                add(found, file);
        std::ranges::stable_sort(found.all.topKernels, std::greater(), &KernelTotal::time);
        found.all.topKernels.resize(std::min(found.all.topKernels.size(), kTopKernels));
        std::ranges::stable_sort(found.all.transfers, std::greater(), &Transfer::time);
        found.job = std::move(job);
        return found;
    }

private:
    struct File {
        Summary summary;
        CaptureStats losses;
    };

    void add(JobSummary& found, std::size_t file)
    {
        const File& one = m_files[file];
        if (found.all.counts.events == 0)
            found.all = one.summary;
        else
            addTo(found.all, one.summary);
        found.dropped += one.losses.dropped;
        found.unmatched += one.losses.unmatched;
        for (const Message& note : one.losses.notes)
            if (found.losses.size() < kMostLossNotes && std::ranges::find(found.losses, note) == found.losses.end())
                found.losses.push_back(note);
    }

    std::mutex m_mutex; ///< guards the members below
    std::vector<File> m_files;
    std::shared_ptr<const Trace> m_frame;
};

profiler::Result<SlowStep> explain(const profiler::Trace& trace, const std::vector<Step>& steps,
                                   const SummarizeOptions& options)
{
    const auto chosen = std::ranges::find_if(steps, [&](const Step& step) { return step.index == *options.whyStep; });
    if (chosen == steps.end())
        return profiler::fail<"summarize.no_step", "the trace has no step {step}">(
            profiler::Error::Code::NotFound, options.traces.front().string(),
            steps.empty() ? std::string("leave out --why-step: the trace has no steps")
                          : fmt::format("use a step from {} to {}", steps.front().index, steps.back().index),
            {{"step", *options.whyStep}});
    return whyStepIsSlow(trace, scanActivity(trace), steps, static_cast<std::size_t>(chosen - steps.begin()));
}

nlohmann::ordered_json toJson(const SlowStep& slow, profiler::TraceTime start)
{
    nlohmann::ordered_json causes = nlohmann::ordered_json::array();
    for (const SlowStepCause& cause : slow.causes)
        causes.push_back({{"excess_us", toUs(cause.excess)},
                          {"begin_us", toUs(cause.where.begin - start)},
                          {"duration_us", toUs(cause.where.duration())},
                          {"reason", messageJson(cause.reason)}});
    return {{"index", slow.step.index},
            {"duration_us", toUs(slow.step.range.duration())},
            {"median_us", toUs(slow.usual)},
            {"excess_us", toUs(slow.excess)},
            {"unexplained_us", toUs(slow.unexplained)},
            {"compared_with", slow.comparedWith},
            {"causes", causes}};
}

std::string toText(const SlowStep& slow)
{
    using profiler::timeText;
    const double us = toUs(slow.step.range.duration());
    std::string text = slow.excess.count() == 0
                           ? fmt::format("\nStep {} took {}, not longer than the median of {}\n", slow.step.index,
                                         timeText(us), timeText(toUs(slow.usual)))
                           : fmt::format("\nStep {} took {}, {} longer than the median of {}\n", slow.step.index,
                                         timeText(us), timeText(toUs(slow.excess)), timeText(toUs(slow.usual)));
    for (const SlowStepCause& cause : slow.causes)
        text += "  " + cause.reason.text + "\n";
    if (slow.unexplained.count() > 0)
        text += fmt::format("  {} have no recorded cause.\n", timeText(toUs(slow.unexplained)));
    return text;
}

// A cause that costs a smaller share of the step is not named; the JSON contains all of them.
constexpr double kLeastShare = 0.01;

/// Samples per rank and step, as our trainer and the loaders of a Python program record them; 0: not recorded.
std::int64_t batchOf(const profiler::Trace& trace)
{
    for (const std::string_view key : {"batch.size", "loader.batch_size"}) {
        const std::string_view text = metadata(trace, key);
        std::int64_t samples = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), samples).ec == std::errc{} && samples > 0)
            return samples;
    }
    return 0;
}

/// The parts that cost or gain time compared with the smallest job, largest first.
std::vector<JobTimePart> causesOf(const ScalingPoint& point)
{
    std::vector<JobTimePart> causes;
    for (std::size_t i = 0; i < kJobTimeParts; ++i)
        if (point.lostPartsUs[i] > kLeastShare * point.time.stepUs)
            causes.push_back(static_cast<JobTimePart>(i));
    std::ranges::stable_sort(causes, std::greater(),
                             [&](JobTimePart part) { return point.lostPartsUs[static_cast<std::size_t>(part)]; });
    return causes;
}

Json partsJson(const std::array<double, kJobTimeParts>& us)
{
    Json json = Json::object();
    for (std::size_t i = 0; i < kJobTimeParts; ++i)
        json[std::string(jobTimePartName(static_cast<JobTimePart>(i)))] = us[i];
    return json;
}

Json toJson(const Scaling& scaling, const std::vector<ScalingRun>& runs)
{
    Json rows = Json::array();
    for (const ScalingPoint& point : scaling.points) {
        Json causes = Json::array();
        for (const JobTimePart part : causesOf(point))
            causes.push_back(jobTimePartName(part));
        rows.push_back({{"source", runs[point.run].source},
                        {"ranks", point.ranks},
                        {"recorded_ranks", runs[point.run].facts.ranks.size()},
                        {"batch_per_rank", scaling.batchKnown ? Json(runs[point.run].batch) : Json(nullptr)},
                        {"step_us", point.time.stepUs},
                        {"steps_per_s", point.stepsPerS},
                        {"samples_per_s", scaling.batchKnown ? Json(point.samplesPerS) : Json(nullptr)},
                        {"speedup", point.speedup},
                        {"efficiency", point.efficiency},
                        {"time_us", partsJson(point.time.partsUs)},
                        {"lost_us", point.lostUs},
                        {"lost_time_us", partsJson(point.lostPartsUs)},
                        {"causes", causes}});
    }
    return {{"schema", 1},
            {"scaling", rows},
            {"batch_known", scaling.batchKnown},
            {"notes", textsJson(scaling.notes)},
            {"note_messages", messagesJson(scaling.notes)}};
}

std::string toText(const Scaling& scaling)
{
    const bool known = scaling.batchKnown;
    TextTable table({"Ranks", "step", known ? "samples/s" : "steps/s", "speedup", "efficiency", "lost per step"});
    for (const ScalingPoint& point : scaling.points)
        table.add({countText(point.ranks), timeText(point.time.stepUs),
                   known ? countText(point.samplesPerS) : profiler::significantText(point.stepsPerS),
                   fmt::format("{:.2f}", point.speedup), shareText(point.efficiency),
                   point.lostUs > 0 ? timeText(point.lostUs) : "-"});
    std::string text = "Scaling from " + countText(scaling.points.front().ranks) +
                       (scaling.points.front().ranks == 1 ? " rank\n\n" : " ranks\n\n") + table.text();
    for (const profiler::Message& note : scaling.notes)
        text += wrapped(note.text, 110, 2);
    TextTable causes({"Time lost per step", "ranks", "time", "share of the step"});
    for (const ScalingPoint& point : scaling.points)
        for (const JobTimePart part : causesOf(point)) {
            const double us = point.lostPartsUs[static_cast<std::size_t>(part)];
            causes.add(
                {jobTimePartText(part), countText(point.ranks), timeText(us), shareText(us / point.time.stepUs)});
        }
    return causes.empty() ? text + "\nNo part of the step grew with the number of ranks.\n"
                          : text + "\n" + causes.text();
}

/// `summarize` for the ranks of a job.
int summarizeJob(const SummarizeOptions& options, const Streams& streams)
{
    if (options.detailed || options.whyStep) {
        streams.err << "--detailed and --why-step analyze one trace: give the file of a rank\n";
        return kWrongUsage;
    }
    Collecting collecting;
    auto job = openJob(options.traces, options.steps, [&](const job::LoadedRank& rank) { collecting.add(rank); });
    if (!job) {
        streams.err << job.error().message() << '\n';
        return kBadInput;
    }
    const JobSummary summary = collecting.take(std::move(*job));
    if (options.json)
        streams.out << jsonText(toJson(summary)) << '\n';
    else
        streams.out << toText(summary);
    return kDone;
}

/// `summarize --scaling`: each path is a job of another size. A single trace counts as a job with one rank.
int summarizeScaling(const SummarizeOptions& options, const Streams& streams)
{
    if (options.detailed || options.whyStep) {
        streams.err << "--scaling compares jobs: leave out --detailed and --why-step\n";
        return kWrongUsage;
    }
    std::vector<OpenedJob> jobs;
    std::vector<ScalingRun> runs;
    for (const std::filesystem::path& path : options.traces) {
        auto job = openJobWithFrame({path}, options.steps);
        if (!job) {
            streams.err << job.error().message() << '\n';
            return kBadInput;
        }
        jobs.push_back(std::move(*job));
    }
    for (std::size_t i = 0; i < jobs.size(); ++i)
        runs.push_back({.facts = {jobs[i].job.ranks, jobs[i].job.analysis},
                        .worldSize = jobs[i].job.worldSize,
                        .batch = batchOf(*jobs[i].frame),
                        .source = options.traces[i].string()});
    const auto scaling = scalingOf(runs);
    if (!scaling) {
        streams.err << scaling.error().message() << '\n';
        return kBadInput;
    }
    if (options.json)
        streams.out << jsonText(toJson(*scaling, runs)) << '\n';
    else
        streams.out << toText(*scaling);
    return kDone;
}

} // namespace

Summary summaryOf(const Trace& trace, const std::function<std::vector<Step>()>& findSteps)
{
    // Steps are found in parallel with the scan: neither depends on the other.
    auto findingSteps = std::async(std::launch::async, findSteps);
    const unsigned threads = std::min(std::max(std::thread::hardware_concurrency(), 1U), kMostWalkers);
    const ActivityScan scan = scanActivity(trace, threads);
    Summary summary = scanSummary(trace, scan);
    summary.topKernels.resize(std::min(summary.topKernels.size(), kTopKernels));
    addSteps(trace, scan, findingSteps.get(), summary);
    summarizeRanks(trace, threads, summary);
    summary.workers = workersOf(trace, summary);
    summary.memory = memoryMoments(trace);
    summary.memoryUse = memoryOverTime(trace);
    return summary;
}

Summary rankSummaryOf(const Trace& trace, const ActivityScan& scan, std::vector<Step> steps)
{
    Summary summary = scanSummary(trace, scan);
    for (KernelTotal& kernel : summary.topKernels)
        kernel.longest.reset(); // refers to the trace, which does not stay open
    addSteps(trace, scan, std::move(steps), summary);
    for (IdleCause& cause : summary.idle) {
        cause.where.clear();
        cause.everywhere.clear();
    }
    summary.workers = workersOf(trace, summary);
    summary.memory = memoryMoments(trace);
    return summary;
}

void addTo(Summary& sum, const Summary& more)
{
    sum.counts.events += more.counts.events;
    sum.counts.kernel += more.counts.kernel;
    sum.counts.memcpy += more.counts.memcpy;
    sum.counts.memset += more.counts.memset;
    sum.counts.runtime += more.counts.runtime;
    sum.counts.cpuOp += more.counts.cpuOp;
    sum.counts.nvtx += more.counts.nvtx;
    sum.kernelUs += more.kernelUs;
    sum.shortKernels += more.shortKernels;
    sum.dataWaits += more.dataWaits;
    sum.dataWaitUs += more.dataWaitUs;
    for (const Transfer& row : more.transfers) {
        const auto known = std::ranges::find_if(sum.transfers, [&](const Transfer& other) {
            return other.kind == row.kind && other.src == row.src && other.dst == row.dst;
        });
        if (known == sum.transfers.end()) {
            sum.transfers.push_back(row);
            continue;
        }
        known->count += row.count;
        known->bytes += row.bytes;
        known->time += row.time;
    }
    sum.devices.insert(sum.devices.end(), more.devices.begin(), more.devices.end());
    addTo(sum.breakdown, more.breakdown);
    addTo(sum.idle, more.idle);
    sum.communication.kernels += more.communication.kernels;
    sum.communication.time += more.communication.time;
    sum.communication.exposed += more.communication.exposed;
    sum.sync.calls += more.sync.calls;
    sum.sync.time += more.sync.time;
    sum.sync.blockingCopies += more.sync.blockingCopies;
    sum.sync.blockingCopyTime += more.sync.blockingCopyTime;
    std::unordered_map<std::string_view, std::size_t> names;
    for (std::size_t i = 0; i < sum.topKernels.size(); ++i)
        names.emplace(sum.topKernels[i].name, i);
    const std::size_t before = sum.topKernels.size();
    std::vector<KernelTotal> others;
    for (const KernelTotal& kernel : more.topKernels)
        if (const auto known = names.find(kernel.name); known != names.end() && known->second < before) {
            sum.topKernels[known->second].count += kernel.count;
            sum.topKernels[known->second].time += kernel.time;
        } else {
            others.push_back(kernel);
        }
    sum.topKernels.insert(sum.topKernels.end(), others.begin(), others.end());
}

Result<job::Job> openJob(const std::vector<std::filesystem::path>& traces, const StepChoice& steps,
                         const std::function<void(const job::LoadedRank&)>& visit)
{
    auto files = job::findJobFiles(traces);
    if (!files)
        return tl::unexpected(files.error());
    ProgressLine line("Reading " + std::to_string(files->files.size()) + " traces");
    job::JobOptions options;
    options.stop = line.stop();
    options.progress = [&](double share) { line.show(share); };
    options.findSteps = [&](const Trace& trace, const std::filesystem::path& file) {
        return chosenSteps(trace, steps, file);
    };
    options.visit = visit;
    return job::openJob(std::move(*files), options);
}

Result<OpenedJob> openJobWithFrame(const std::vector<std::filesystem::path>& traces, const StepChoice& steps)
{
    std::mutex mutex; // guards `frame`
    std::shared_ptr<const Trace> frame;
    auto job = openJob(traces, steps, [&](const job::LoadedRank& rank) {
        const std::scoped_lock lock(mutex);
        if (!frame)
            frame = frameOf(*rank.trace);
    });
    if (!job)
        return tl::unexpected(job.error());
    return OpenedJob{std::move(*job), std::move(frame)};
}

int summarize(const SummarizeOptions& options, const Streams& streams)
{
    if (options.scaling)
        return summarizeScaling(options, streams);
    if (profiler::job::mayBeJob(options.traces) && !profiler::job::onlyTraceIn(options.traces))
        return summarizeJob(options, streams);
    const auto trace = openTrace(options.traces.front());
    if (!trace) {
        streams.err << trace.error().message() << '\n';
        return kBadInput;
    }
    profiler::Result<std::vector<profiler::analysis::Step>> steps;
    Summary summary = summaryOf(**trace, [&] {
        steps = chosenSteps(**trace, options.steps, options.traces.front());
        return steps.value_or(std::vector<profiler::analysis::Step>());
    });
    if (!steps) {
        streams.err << steps.error().message() << '\n';
        return kBadInput;
    }
    if (options.detailed)
        summary.detailed = profiler::analysis::detailedAnalysis(**trace, summary.steps);
    std::optional<SlowStep> slow;
    if (options.whyStep) {
        auto explained = explain(**trace, summary.steps, options);
        if (!explained) {
            streams.err << explained.error().message() << '\n';
            return kBadInput;
        }
        slow = std::move(*explained);
    }
    if (options.json) {
        auto json = toJson(**trace, summary);
        if (slow)
            json["why_step"] = toJson(*slow, (*trace)->range().begin);
        streams.out << jsonText(json) << '\n';
    } else {
        streams.out << toText(**trace, summary) << (slow ? toText(*slow) : std::string());
    }
    return kDone;
}

std::string jobTimePartText(JobTimePart part)
{
    switch (part) {
    case JobTimePart::Compute:
        return "compute";
    case JobTimePart::Transfer:
        return "exposed transfer";
    case JobTimePart::Wait:
        return "waiting for ranks";
    case JobTimePart::Copy:
        return "copies";
    case JobTimePart::GarbageCollection:
        return "garbage collection";
    case JobTimePart::DataWait:
        return "waiting for data";
    case JobTimePart::Host:
        break;
    }
    return "host";
}

} // namespace app::terminal
