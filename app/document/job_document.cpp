#include "app/document/job_document.h"

#include "app/document/trace_document.h"
#include "app/document/trace_files.h"
#include "app/look/display_text.h"
#include "app/services/notices.h"
#include "profiler/job/rank_merge.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <system_error>
#include <utility>

namespace app {

namespace fs = std::filesystem;
using profiler::analysis::CollectiveKind;
using profiler::analysis::GroupRole;
using profiler::analysis::JobRank;
using profiler::analysis::Straggler;
using profiler::analysis::StragglerCause;

namespace {

// Unfinished work must not read 100 %: the ranks are analysed together after the last file.
constexpr double kMostWhileReading = 0.99;
constexpr std::size_t kMostNamed = 3; ///< excluded files in the headline of the notice; all are in its details

QString nameOf(const fs::path& path)
{
    return asQString(path.filename().string());
}

/// The folder of the job.
fs::path folderOf(const fs::path& input)
{
    std::error_code none;
    const fs::path folder = fs::is_directory(input, none) ? input : input.parent_path();
    return folder.filename().empty() ? folder.parent_path() : folder; // "traces/"
}

/// The index of the largest finite value that exceeds `above`.
std::optional<std::size_t> largest(const std::vector<double>& values, double above)
{
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (std::isfinite(values[i]) && values[i] > above) {
            above = values[i];
            found = i;
        }
    return found;
}

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(JobTexts)
};

constexpr std::size_t kMostSteps = 6; ///< parts of the list of steps in scopeText()

} // namespace

std::optional<std::size_t> worstStep(const JobRank& rank)
{
    const auto latest = largest(rank.lateByStepUs, 0);
    return latest ? latest : largest(rank.stepByStepUs, -1);
}

JobDocument::JobDocument(Notices* notices, TraceDocument* document) : m_notices(notices), m_document(document)
{
    connect(m_document, &TraceDocument::traceReplaced, this, &JobDocument::followDocument);
    connect(m_document, &TraceDocument::analysedChanged, this, &JobDocument::goToTarget);
    connect(m_document, &TraceDocument::traceOpened, this, &JobDocument::followOpened);
    // The user opens a trace instead.
    connect(m_document, &TraceDocument::loading, this, [this](const QString&, double share) {
        if (share == 0 && m_loading && m_document->isLoading()) {
            m_work.cancel();
            m_loading = false; // the document reports its own progress from now on
            showEarlier();
        }
    });
}

void JobDocument::open(const std::vector<fs::path>& inputs)
{
    emit m_notices->outdated();
    if (m_document->isTraining()) {
        emit m_notices->noticed(tr("A training run is in progress. Stop it before you open a job."), {}, false);
        return;
    }
    if (m_document->isLoading())
        m_document->cancelLoading();
    m_loading = true;
    emit loading(tr("Opening the job"), 0);
    std::vector<fs::path> absolute; // the document's path tells whether its trace is one of the ranks
    for (const fs::path& input : inputs) {
        std::error_code failed;
        const fs::path path = fs::absolute(input, failed);
        absolute.push_back(failed ? input : path.lexically_normal());
    }
    const QString what = tr("The job cannot be opened: %1");
    m_work.start(
        [this, absolute, what, previewAfter = previewDelay(profiler::job::JobOptions().previewAfter)](
            const std::stop_token& stop, const Background::Post& post) {
            auto files = profiler::job::findJobFiles(absolute);
            if (!files) {
                post([this, what, error = files.error()] { fail(what, error); });
                return;
            }
            if (const auto only = profiler::job::onlyTraceOf(*files)) {
                post([this, file = *only] {
                    finishLoading();
                    m_document->openTrace(file);
                });
                return;
            }
            const auto count = static_cast<qint64>(files->files.size());
            const auto report = [this, &post, count](double share) {
                post([this, count, share] {
                    emit loading(tr("Opening the job: %1 of %2 files read")
                                     .arg(std::llround(share * static_cast<double>(count)))
                                     .arg(count),
                                 std::min(share, kMostWhileReading));
                });
            };
            report(0);
            const fs::path folder = folderOf(absolute.front());
            profiler::job::JobOptions options;
            options.stop = stop;
            options.progress = report;
            options.previewAfter = previewAfter;
            options.preview = [this, &post, folder](profiler::job::Job part) {
                post([this, folder, read = std::make_shared<const profiler::job::Job>(std::move(part))] {
                    showPart(read, folder);
                });
            };
            auto job = profiler::job::openJob(std::move(*files), options);
            if (!job) {
                post([this, what, error = job.error()] { fail(what, error); });
                return;
            }
            std::error_code failed;
            const bool isFolder = absolute.size() == 1 && fs::is_directory(absolute.front(), failed);
            post([this, folder, isFolder, opened = std::make_shared<const profiler::job::Job>(std::move(*job))] {
                take(opened, folder);
                if (isFolder && !isSampleFile(folder))
                    addRecentTrace(asQString(folder.string()));
            });
        },
        [this, what](const profiler::Error& error) { fail(what, error); });
}

void JobDocument::showRemote(const std::shared_ptr<const profiler::job::Job>& job, const QString& place)
{
    // The earlier job does not come back, not even for a moment: its arrival would close the new connection.
    m_earlier.reset();
    cancelLoading();
    show(job, place.toStdString(), true);
    emit opened();
    openSelected();
    reportExcluded(); // last: to open a trace removes earlier notices
}

void JobDocument::finishLoading()
{
    m_loading = false;
    emit loading({}, 1);
}

void JobDocument::cancelLoading()
{
    if (!m_loading)
        return;
    m_work.cancel();
    showEarlier();
    finishLoading();
    emit timelineChanged();
}

void JobDocument::fail(const QString& what, const profiler::Error& error)
{
    showEarlier();
    finishLoading();
    emit timelineChanged();
    emit m_notices->noticed(what.arg(asQString(error.what.text)), detailOf(error), true);
}

/// Shows the job, with the rank that delays the others most.
void JobDocument::show(const std::shared_ptr<const profiler::job::Job>& job, const fs::path& folder, bool isRemote)
{
    m_shown = {.job = job,
               .title = nameOf(folder),
               .folder = folder,
               .rank = job->analysis.slowest.value_or(0),
               .step = std::nullopt,
               .isRemote = isRemote};
    m_shown.step = worstStep(job->analysis.ranks[*m_shown.rank]);
    emit changed();
    emit selectionChanged();
    emit timelineChanged();
}

void JobDocument::showPart(const std::shared_ptr<const profiler::job::Job>& part, const fs::path& folder)
{
    const bool isFirst = !m_earlier;
    if (isFirst)
        m_earlier = m_shown;
    show(part, folder);
    if (isFirst)
        emit opened();
}

/// Undoes showPart().
void JobDocument::showEarlier()
{
    if (!m_earlier)
        return;
    m_shown = *std::exchange(m_earlier, std::nullopt);
    emit changed();
    emit selectionChanged();
    emit timelineChanged();
}

void JobDocument::take(const std::shared_ptr<const profiler::job::Job>& job, const fs::path& folder)
{
    const bool isNew = !std::exchange(m_earlier, std::nullopt);
    finishLoading();
    show(job, folder);
    if (isNew)
        emit opened();
    openSelected();
    reportExcluded(); // last: to open a trace removes earlier notices
}

void JobDocument::reportExcluded()
{
    const profiler::job::Job& job = *m_shown.job;
    if (job.excluded.empty() && job.missing.empty())
        return;
    QStringList names, details;
    for (const profiler::job::ExcludedFile& excluded : job.excluded) {
        if (details.size() < static_cast<qsizetype>(kMostNamed))
            names << nameOf(excluded.file);
        details << asQString(excluded.file.string()) + QStringLiteral(": ") + asQString(excluded.why.text);
    }
    QString list = names.join(QStringLiteral(", "));
    if (job.excluded.size() > kMostNamed)
        list = tr("%1 and %2 more").arg(list).arg(job.excluded.size() - kMostNamed);
    if (!job.missing.empty())
        details << tr("Ranks without a usable trace: %1.").arg(formatNumbers(job.missing));
    for (const auto* notes : {&job.notes, &job.analysis.notes})
        for (const profiler::Message& note : *notes)
            details << asQString(note.text);
    emit m_notices->noticed(job.excluded.empty()
                                ? tr("Ranks without a trace: %1.").arg(formatNumbers(job.missing, kMostNamed))
                                : tr("Excluded from the job: %1.").arg(list),
                            details.join('\n'), false);
}

void JobDocument::select(std::size_t rank, std::optional<std::size_t> step)
{
    if (!m_shown.job || rank >= m_shown.job->ranks.size() || (step && *step >= m_shown.job->analysis.steps.size()))
        return;
    const auto before = std::pair(m_shown.rank, m_shown.step);
    m_shown.rank = rank;
    if (step)
        m_shown.step = step;
    if (before != std::pair(m_shown.rank, m_shown.step))
        emit selectionChanged();
}

void JobDocument::openSelected()
{
    if (!m_shown.job || !m_shown.rank || m_earlier)
        return;
    if (m_shown.timeline != JobTimeline::OneRank) {
        if (isMerged(*m_shown.rank))
            goToMerged(true);
        else
            setTimeline(JobTimeline::OneRank);
        return;
    }
    m_target = Target{.file = m_shown.job->files.files[m_shown.job->fileOf[*m_shown.rank]], .rank = {}, .step = {}};
    // Only the ranks of a single file have the numbers that they have in it.
    if (m_shown.job->files.files.size() == 1 && m_shown.job->ranks.size() > 1)
        m_target->rank = m_shown.job->ranks[*m_shown.rank].rank;
    if (m_shown.step)
        m_target->step = m_shown.job->analysis.steps[*m_shown.step];
    if (m_document->path() == m_target->file && !m_document->isLoading() && !m_document->isPartial()) {
        goToTarget();
        goToRemoteTarget(); // it has not been analysed
    } else if (m_shown.isRemote)
        emit remoteTraceWanted(m_shown.job->fileOf[*m_shown.rank]);
    else
        m_document->openTrace(m_target->file, false);
}

/// Shows the step when the trace is complete, and its steps are known.
void JobDocument::goToTarget()
{
    const auto analysed = m_document->analysed();
    if (!m_target || !analysed || analysed->trace != m_document->trace() || m_document->path() != m_target->file)
        return;
    if (m_target->rank && analysed->source.rank != m_target->rank) {
        m_document->setRank(std::exchange(m_target->rank, std::nullopt));
        return;
    }
    const Target target = *std::exchange(m_target, std::nullopt);
    const auto& steps = analysed->facts.steps;
    const auto step =
        std::find_if(steps.begin(), steps.end(), [&](const auto& one) { return one.index == target.step; });
    if (step == steps.end())
        return;
    Selection* selection = m_document->selection();
    if (step->found) // its slice is only the first one in it
        selection->selectRange(step->range);
    else
        selection->selectSlice(step->slice);
    selection->show(step->range);
}

/// Shows the step of a trace that is on another machine and may never be analysed here.
void JobDocument::goToRemoteTarget()
{
    if (!m_shown.isRemote || !m_target || m_target->rank || m_document->path() != m_target->file)
        return;
    const Target target = *std::exchange(m_target, std::nullopt);
    const profiler::job::Job& job = *m_shown.job;
    for (std::size_t i = 0; i < job.ranks.size(); ++i)
        for (const profiler::analysis::RankStep& step : job.ranks[i].steps)
            if (job.files.files[job.fileOf[i]] == target.file && step.index == target.step) {
                m_document->selection()->selectRange(step.range);
                m_document->selection()->show(step.range);
                return;
            }
}

bool JobDocument::isMerged(std::size_t rank) const
{
    return std::find(m_merged.begin(), m_merged.end(), rank) != m_merged.end();
}

/// Shows the selected step in the band of the selected rank.
/// @param mayMerge  again, if the step is not in the merged trace
void JobDocument::goToMerged(bool mayMerge)
{
    const profiler::analysis::RankDigest& rank = m_shown.job->ranks[*m_shown.rank];
    const profiler::analysis::RankClock& clock = m_shown.job->analysis.clock.ranks[*m_shown.rank];
    const auto step = std::find_if(rank.steps.begin(), rank.steps.end(), [&](const auto& one) {
        return m_shown.step && one.index == m_shown.job->analysis.steps[*m_shown.step];
    });
    if (step == rank.steps.end())
        return;
    const profiler::TimeRange range{clock(step->range.begin), clock(step->range.end)};
    const auto trace = m_document->trace();
    if (!trace->range().overlaps(range)) { // only a part of the steps is shown
        if (mayMerge)
            merge(m_shown.timeline);
        return;
    }
    const std::string name = profiler::job::mergedName(rank);
    std::optional<profiler::TrackId> band;
    std::optional<profiler::SliceId> mark;
    for (const profiler::Track& track : trace->tracks()) {
        if (track.processName != name || track.kind == profiler::TrackKind::Counter)
            continue;
        if (!band)
            band = track.id;
        trace->forEach(track.id, {range.begin, range.begin + profiler::Nanoseconds(1)}, [&](const auto& slice) {
            if (slice.range() == range)
                mark = slice.id;
            return !mark;
        });
    }
    Selection* selection = m_document->selection();
    if (mark)
        selection->selectSlice(*mark);
    else
        selection->selectRange(range);
    selection->show(range, mark ? mark->track : band);
}

/// The ranks that are shown together, from top to bottom.
std::vector<std::size_t> JobDocument::ranksFor(JobTimeline timeline) const
{
    const profiler::job::Job& job = *m_shown.job;
    std::vector<std::size_t> ranks(job.ranks.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    const auto later = [&](std::size_t a, std::size_t b) {
        return job.analysis.ranks[a].lateUs > job.analysis.ranks[b].lateUs;
    };
    if (timeline == JobTimeline::ByLateness || ranks.size() > profiler::job::kMostMerged)
        std::stable_sort(ranks.begin(), ranks.end(), later);
    if (ranks.size() > profiler::job::kMostMerged)
        ranks.resize(profiler::job::kMostMerged);
    if (timeline != JobTimeline::ByLateness)
        std::sort(ranks.begin(), ranks.end());
    if (timeline == JobTimeline::ByHost)
        std::stable_sort(ranks.begin(), ranks.end(),
                         [&](std::size_t a, std::size_t b) { return job.ranks[a].host < job.ranks[b].host; });
    return ranks;
}

void JobDocument::setTimeline(JobTimeline timeline)
{
    if (!m_shown.job || timeline == m_shown.timeline || m_loading) {
        emit timelineChanged();
        return;
    }
    emit m_notices->outdated();
    // A file with all ranks needs no merging.
    if (timeline == JobTimeline::OneRank || m_shown.job->files.files.size() == 1) {
        m_shown.timeline = JobTimeline::OneRank;
        emit timelineChanged();
        openSelected();
        return;
    }
    merge(timeline);
}

void JobDocument::merge(JobTimeline timeline)
{
    if (m_shown.isRemote)
        return mergeThere(timeline);
    if (m_document->isLoading())
        m_document->cancelLoading();
    m_loading = true;
    emit loading(tr("Reading the ranks"), 0);
    const QString what = tr("The ranks cannot be shown together: %1.");
    m_work.start(
        [this, job = m_shown.job, ranks = ranksFor(timeline), step = m_shown.step, timeline,
         what](const std::stop_token& stop, const Background::Post& post) {
            profiler::job::MergeOptions options;
            options.step = step;
            options.stop = stop;
            options.progress = [&](double share) {
                const auto count = static_cast<qint64>(ranks.size());
                post([this, share, count] {
                    emit loading(tr("Reading the ranks: %1 of %2 read")
                                     .arg(std::llround(share * static_cast<double>(count)))
                                     .arg(count),
                                 std::min(share, kMostWhileReading));
                });
            };
            const auto trace = profiler::job::mergeRanks(*job, ranks, options);
            post([this, trace, timeline, what, ranks] {
                if (trace)
                    takeMerged(*trace, {timeline, ranks});
                else
                    fail(what, trace.error());
            });
        },
        [this, what](const profiler::Error& error) { fail(what, error); });
}

void JobDocument::mergeThere(JobTimeline timeline)
{
    Merged wanted{timeline, ranksFor(timeline)};
    std::vector<std::int64_t> numbers;
    for (const std::size_t rank : wanted.ranks)
        numbers.push_back(m_shown.job->ranks[rank].rank);
    std::optional<std::int64_t> step;
    if (m_shown.step)
        step = m_shown.job->analysis.steps[*m_shown.step];
    m_remote = std::move(wanted);
    emit remoteRanksWanted(numbers, step);
}

void JobDocument::takeRemoteRanks(bool areShown)
{
    if (!areShown)
        m_remote.reset();
    if (!m_remote) {
        emit timelineChanged();
        return;
    }
    m_shown.timeline = m_remote->timeline; // before the document shows it
    m_merged = m_remote->ranks;
    m_target.reset();
}

/// A trace is complete; a remote one only as far as it can be.
void JobDocument::followOpened()
{
    if (m_remote && m_document->path() == m_shown.folder) {
        m_remote.reset();
        showMerged();
        return;
    }
    goToRemoteTarget();
}

void JobDocument::takeMerged(const std::shared_ptr<const profiler::Trace>& trace, Merged merged)
{
    finishLoading();
    m_shown.timeline = merged.timeline; // before the document shows it
    m_merged = std::move(merged.ranks);
    m_target.reset();
    m_document->showTrace(trace, tr("%1 ranks").arg(m_merged.size()), m_shown.folder);
    showMerged();
}

/// Shows the selected step in the merged trace that the document has got.
void JobDocument::showMerged()
{
    emit timelineChanged();
    if (isMerged(*m_shown.rank))
        goToMerged(false); // another machine may send other steps
    if (m_merged.size() < m_shown.job->ranks.size())
        emit m_notices->noticed(
            tr("The timeline shows the %1 latest of %2 ranks.").arg(m_merged.size()).arg(m_shown.job->ranks.size()), {},
            false);
}

void JobDocument::followDocument()
{
    if (!m_shown.job || (m_shown.timeline != JobTimeline::OneRank && m_document->path() == m_shown.folder))
        return;
    const auto& files = m_shown.job->files.files;
    if (std::find(files.begin(), files.end(), m_document->path()) == files.end())
        close();
    else if (std::exchange(m_shown.timeline, JobTimeline::OneRank) != JobTimeline::OneRank)
        emit timelineChanged();
}

void JobDocument::close()
{
    m_shown.job.reset();
    m_shown.title.clear();
    m_shown.timeline = JobTimeline::OneRank;
    m_shown.isRemote = false;
    m_remote.reset();
    m_shown.rank.reset();
    m_shown.step.reset();
    m_target.reset();
    emit changed();
    emit selectionChanged();
    emit timelineChanged();
}

QString formatNumbers(std::span<const std::int64_t> numbers, std::size_t mostParts)
{
    QStringList parts;
    for (std::size_t i = 0; i < numbers.size();) {
        if (static_cast<std::size_t>(parts.size()) == mostParts)
            return Texts::tr("%1 and %2 more").arg(parts.join(QStringLiteral(", "))).arg(numbers.size() - i);
        std::size_t next = i + 1;
        while (next < numbers.size() && numbers[next] == numbers[next - 1] + 1)
            ++next;
        if (next - i > 2) {
            parts << QStringLiteral("%1–%2").arg(numbers[i]).arg(numbers[next - 1]);
            i = next;
        } else {
            parts << QString::number(numbers[i++]);
        }
    }
    return parts.join(QStringLiteral(", "));
}

QString causeText(StragglerCause cause)
{
    switch (cause) {
    case StragglerCause::SlowCompute:
        return Texts::tr("slow kernels");
    case StragglerCause::Throttling:
        return Texts::tr("clock throttling");
    case StragglerCause::SlowHost:
        return Texts::tr("slow host");
    case StragglerCause::SlowLoader:
        return Texts::tr("slow loader");
    case StragglerCause::GarbageCollection:
        return Texts::tr("garbage collection");
    case StragglerCause::SlowCopy:
        return Texts::tr("slow copies");
    case StragglerCause::SlowLink:
        return Texts::tr("slow link");
    case StragglerCause::Unknown:
        break;
    }
    return Texts::tr("unknown");
}

QString scopeText(const profiler::job::Job& job, const Straggler& straggler)
{
    QString text = straggler.always ? Texts::tr("every step")
                   : straggler.steps.size() == 1
                       ? Texts::tr("step %1").arg(straggler.steps.front())
                       : Texts::tr("steps %1").arg(formatNumbers(straggler.steps, kMostSteps));
    if (straggler.wholeHost)
        text = Texts::tr("%1, all ranks of %2").arg(text, asQString(job.ranks[straggler.rank].host));
    return text;
}

QString groupRoleText(GroupRole role)
{
    switch (role) {
    case GroupRole::Data:
        return Texts::tr("data parallel");
    case GroupRole::Tensor:
        return Texts::tr("tensor parallel");
    case GroupRole::Pipeline:
        return Texts::tr("pipeline parallel");
    case GroupRole::Expert:
        return Texts::tr("expert parallel");
    case GroupRole::Unknown:
        break;
    }
    return Texts::tr("unknown");
}

QString collectiveText(CollectiveKind kind)
{
    return asQString(profiler::analysis::collectiveName(kind)).replace('_', '-');
}

} // namespace app
