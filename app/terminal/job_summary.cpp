#include "app/terminal/job_summary.h"

#include "app/terminal/json_text.h"
#include "app/terminal/open_trace.h"
#include "profiler/analysis/detailed_analysis.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <ostream>
#include <set>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::size_t kTopKernels = 10;
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

} // namespace

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

} // namespace app::terminal
