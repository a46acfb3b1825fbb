#include "app/document/trace_document.h"

#include "advisor/change/program_patch.h"
#include "app/document/trace_files.h"
#include "app/look/display_text.h"
#include "app/services/notices.h"
#include "app/services/program_process.h"
#include "app/services/run_store.h"
#include "app/tables/slice_details.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <utility>

namespace app {

namespace {

// Unfinished work must not read 100 %: formatShare() rounds to a tenth of a percent.
constexpr double kMostWhileReading = 0.99;

QString fileName(const std::filesystem::path& path)
{
    return asQString(path.filename().string());
}

/// The configuration in a trace of a run of the app; none for other traces.
std::optional<config::TrainingConfig> configurationOf(const profiler::Trace& trace)
{
    const auto found = trace.metadata().find("config");
    if (found == trace.metadata().end())
        return std::nullopt;
    auto parsed = config::TrainingConfig::fromJson(found->second, "the trace's configuration");
    return parsed ? std::optional(*parsed) : std::nullopt;
}

} // namespace

TraceDocument::TraceDocument(Notices* notices, const RunStore* runs)
    : m_notices(notices), m_runs(runs), m_trace(profiler::TraceBuilder().finish())
{
    connect(&m_selection, &Selection::changed, this, [this] {
        const auto id = m_selection.slice();
        m_selected = id && holds(*m_trace, *id) ? std::optional(m_trace->slice(*id)) : std::nullopt;
        m_selectedName = m_selected ? m_trace->name(*m_selected) : std::string_view();
    });
    connect(&m_selection, &Selection::editorRequested, this, [this](const QString& file, int line) {
        if (const QString problem = openSourceInEditor(file, line, m_path); !problem.isEmpty())
            emit m_notices->noticed(problem, {}, true);
    });
    connectFollowers();
    connectLoader();
    connectSaver();
    connectAnalyser();
}

TraceDocument::~TraceDocument()
{
    // Members must not call back into a partly destroyed document.
    for (QObject* part :
         std::initializer_list<QObject*>{&m_follower, &m_recordingFollower, &m_loader, &m_saver, &m_analyser})
        part->disconnect(this);
}

Origin TraceDocument::program() const
{
    if (m_title.isEmpty() || m_configuration || !advisor::change::describesProgram(*m_trace) ||
        !m_trace->metadata().contains("record.command"))
        return {};
    return originOf(*m_trace, m_path);
}

bool TraceDocument::isMachine(const advisor::Machine& machine) const
{
    if (!m_title.isEmpty())
        return isMachineOf(machine, *m_trace);
    const std::string here = thisMachine().processor;
    return machine.processor.empty() || here.empty() || machine.processor == here;
}

void TraceDocument::connectFollowers()
{
    connect(&m_recordingFollower, &RecordingFollower::snapshot, this, &TraceDocument::showRecording);
    connect(&m_follower, &TraceFollower::snapshot, this, [this](const auto& trace) {
        take(trace);
        analyse();
    });
    connect(&m_follower, &TraceFollower::finished, this, [this](const auto& trace) {
        m_ownRun = true; // before its analysis
        m_following = false;
        take(trace);
        analyse();
        emit followed();
    });
    connect(&m_follower, &TraceFollower::failed, this, [this](const profiler::Error& error) {
        // A training without recording, or one that died before it wrote anything, has no trace.
        if (m_configuration && (*m_configuration)[config::key::captureEnabled])
            emit m_notices->noticed(tr("This run has no trace."), asQString(error.message()), false);
        m_following = false;
        emit followed();
    });
}

void TraceDocument::connectLoader()
{
    connect(&m_loader, &TraceLoader::progressed, this,
            [this](double share) { emit loading(tr("Opening the trace"), std::min(share, kMostWhileReading)); });
    const auto loadNoTrace = [this] {
        stopLoading();
        settlePart();
    };
    connect(&m_loader, &TraceLoader::configurationRead, this,
            [this, loadNoTrace](const std::filesystem::path& path, const config::TrainingConfig& configuration) {
                loadNoTrace();
                emit configurationRead(path, configuration);
            });
    connect(&m_loader, &TraceLoader::configurationRefused, this,
            [this, loadNoTrace](const std::filesystem::path&, const QString& why) {
                loadNoTrace();
                emit configurationRefused(why);
            });
    connect(&m_loader, &TraceLoader::loaded, this, &TraceDocument::showLoaded);
    connect(&m_loader, &TraceLoader::previewed, this, &TraceDocument::showPreview);
    connect(&m_loader, &TraceLoader::failed, this,
            [this](const std::filesystem::path& path, const profiler::Error& error) {
                emit loading({}, 1);
                // The trace may be a preview of this file or of the previous one.
                if (std::exchange(m_previewing, false))
                    m_isPart = true;
                if (m_isPart && !m_analysed)
                    m_analyser.request(m_trace, std::nullopt);
                QString detail = detailOf(error);
                if (m_isPart)
                    detail += (detail.isEmpty() ? "" : "\n") + tr("Only part of %1 is shown.").arg(m_title);
                emit m_notices->noticed(tr("%1 cannot be opened: %2").arg(fileName(path), asQString(error.what.text)),
                                        detail, true);
            });
}

void TraceDocument::connectSaver()
{
    // If both are running, reports the one that the user waits for.
    const auto tellExport = [this](double share) {
        if (!m_loader.isRunning())
            emit loading(tr("Exporting the trace"), share);
    };
    connect(&m_saver, &TraceSaver::progressed, this,
            [tellExport](double share) { tellExport(std::min(share, kMostWhileReading)); });
    connect(&m_saver, &TraceSaver::saved, this, [this, tellExport](const std::filesystem::path& path) {
        tellExport(1);
        const QString what =
            m_isPart ? tr("The loaded part of the trace was exported to %1.") : tr("The trace was exported to %1.");
        emit m_notices->noticed(what.arg(fileName(path)), asQString(path.string()), false);
        emit m_notices->saved(asQString(path.string()));
    });
    connect(&m_saver, &TraceSaver::failed, this,
            [this, tellExport](const std::filesystem::path& path, const profiler::Error& error) {
                tellExport(1);
                emit m_notices->noticed(tr("Could not save %1: %2").arg(fileName(path), asQString(error.what.text)),
                                        detailOf(error), true);
            });
}

void TraceDocument::connectAnalyser()
{
    connect(&m_analyser, &Analyser::analysed, this, [this](const std::shared_ptr<const Analysed>& result) {
        m_analysed = result;
        emit analysedChanged();
        if (!result->whyNoRepetition.isEmpty())
            emit m_notices->noticed(tr("No steps were inferred."), result->whyNoRepetition, false);
        if (!result->whyNoRange.isEmpty())
            emit m_notices->noticed(tr("No range was used as a step."), result->whyNoRange, false);
    });
    connect(&m_analyser, &Analyser::failed, this, [this](const profiler::Error& error) {
        if (!m_analysed)
            m_whyNotAnalysed = asQString(error.message());
        emit m_notices->noticed(tr("The trace was not analysed: %1.").arg(asQString(error.what.text)),
                                asQString(error.message()), true);
        emit analysedChanged();
        emit adviceChanged();
    });
    connect(&m_analyser, &Analyser::advised, this, [this](const std::shared_ptr<const Advised>& advice) {
        m_advice = advice;
        emit adviceChanged();
    });
}

void TraceDocument::analyse()
{
    m_analyser.request(m_trace, m_configuration);
}

void TraceDocument::setCompared(std::shared_ptr<const ComparedTrace> compared)
{
    if (m_compared == compared)
        return;
    m_compared = std::move(compared);
    emit comparedChanged();
}

void TraceDocument::setStepsByRepetition(bool on)
{
    m_analyser.setStepSource({.repetition = on, .range = {}, .marksOnly = !on, .rank = m_analyser.stepSource().rank});
    analyse();
}

void TraceDocument::setStepRange(const QString& name)
{
    m_analyser.setStepSource(
        {.repetition = false, .range = name.toStdString(), .marksOnly = false, .rank = m_analyser.stepSource().rank});
    analyse();
}

void TraceDocument::setRank(std::optional<std::int64_t> number)
{
    StepSource source = m_analyser.stepSource();
    source.rank = number;
    m_analyser.setStepSource(std::move(source));
    analyse();
}

void TraceDocument::openTrace(const std::filesystem::path& path, bool isRecent)
{
    m_isRecent = isRecent;
    load(path, TraceLoader::Expect::Trace);
}

void TraceDocument::openFile(const std::filesystem::path& path)
{
    m_isRecent = true;
    load(path, TraceLoader::Expect::TraceOrConfiguration);
}

void TraceDocument::load(const std::filesystem::path& path, TraceLoader::Expect expect)
{
    emit m_notices->outdated();
    if (m_training) {
        emit m_notices->noticed(tr("A training run is in progress. Stop it before you open another trace."), {}, false);
        return;
    }
    if (std::exchange(m_previewing, false))
        m_isPart = true; // stays if the file cannot be opened
    m_loader.load(path, expect);
    emit loading(tr("Opening the trace"), 0);
}

void TraceDocument::stopLoading()
{
    m_loader.cancel();
    if (std::exchange(m_previewing, false))
        m_isPart = true;
    emit loading({}, 1);
}

void TraceDocument::cancelLoading()
{
    if (!m_loader.isRunning()) {
        m_saver.cancel();
        emit loading({}, 1);
        return;
    }
    stopLoading();
    settlePart();
}

void TraceDocument::settlePart()
{
    if (m_isPart && !m_analysed) {
        emit m_notices->noticed(tr("Opening %1 was cancelled. Only part of it is shown.").arg(m_title), {}, false);
        m_analyser.request(m_trace, std::nullopt);
    }
}

void TraceDocument::exportTrace(const std::filesystem::path& path)
{
    emit m_notices->outdated();
    if (!holdsAnything(*m_trace)) {
        emit m_notices->noticed(tr("Nothing to export. Run a training or open a trace first."), {}, false);
        return;
    }
    if (m_saver.isRunning()) {
        emit m_notices->noticed(tr("Another export is still in progress. Try again when it is done."), {}, false);
        return;
    }
    if (m_previewing) {
        emit m_notices->noticed(tr("%1 is still loading. Export it when loading is done.").arg(m_title), {}, false);
        return;
    }
    emit loading(tr("Exporting the trace"), 0);
    m_saver.save(m_trace, path, m_addedMetadata);
}

void TraceDocument::keepWithTrace(const std::string& key, const std::string& text)
{
    m_addedMetadata[key] = text;
}

void TraceDocument::followRun(const std::filesystem::path& trace, const config::TrainingConfig& configuration)
{
    m_configuration = configuration;
    m_ownRun = false;
    m_training = m_following = true;
    replaceTrace(profiler::TraceBuilder().finish(), m_runs->titleOf(configuration), trace);
    m_follower.follow(trace);
}

void TraceDocument::finishRun()
{
    m_training = false;
    m_follower.finish();
}

/// Another trace replaces that of a run or a recording.
void TraceDocument::leaveRun(const profiler::Trace& trace)
{
    // The final trace of a run would replace the trace that was opened after its end.
    m_follower.leave();
    if (std::exchange(m_following, false))
        emit followed();
    m_ownRun = false;
    m_configuration = configurationOf(trace);
}

void TraceDocument::followRecording(const std::filesystem::path& trace, std::int64_t recorder, const QString& title)
{
    m_recordingTitle = title;
    m_recordingFollower.follow(trace, recorder);
}

void TraceDocument::showRecording(const std::shared_ptr<const profiler::Trace>& part)
{
    if (m_loader.isRunning() || isFollowingRun())
        return; // the user has opened another trace
    if (!std::exchange(m_showingRecording, true)) {
        leaveRun(*part);
        replaceTrace(part, tr("%1 · recording").arg(m_recordingTitle), {});
    } else {
        take(part);
    }
    m_analyser.request(part, std::nullopt);
}

void TraceDocument::leaveRecording()
{
    m_recordingFollower.leave();
    if (std::exchange(m_showingRecording, false))
        m_isPart = true;
}

QString TraceDocument::titleOf(const std::filesystem::path& path) const
{
    return m_configuration ? m_runs->titleOf(*m_configuration) : fileName(path);
}

void TraceDocument::showPreview(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace)
{
    if (std::exchange(m_previewing, true))
        return take(std::move(trace));
    m_recordingFollower.leave(); // the user opened another trace in the meantime
    m_showingRecording = false;
    leaveRun(*trace);
    replaceTrace(std::move(trace), titleOf(path), path);
}

void TraceDocument::showLoaded(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace)
{
    emit loading({}, 1);
    m_recordingFollower.leave();
    m_showingRecording = false;
    leaveRun(*trace);
    const QString title = titleOf(path);
    if (std::exchange(m_previewing, false)) {
        // The view keeps the position that the user chose during loading.
        m_title = title;
        take(std::move(trace));
    } else {
        replaceTrace(std::move(trace), title, path);
    }
    analyse();
    // Traces of other tools have no configuration; the user's stays.
    if (m_configuration)
        emit configurationFound(*m_configuration, tr("configuration of %1").arg(title));
    if (m_isRecent && !m_runs->contains(path) && !isSampleFile(path))
        addRecentTrace(asQString(path.string()));
    emit traceOpened();
}

/// Whatever is loaded or followed gives way to a complete trace.
void TraceDocument::leaveFor(const profiler::Trace& trace)
{
    if (m_loader.isRunning())
        stopLoading();
    m_previewing = false;
    m_recordingFollower.leave();
    m_showingRecording = false;
    leaveRun(trace);
}

void TraceDocument::showTrace(const std::shared_ptr<const profiler::Trace>& trace, const QString& title,
                              const std::filesystem::path& path)
{
    leaveFor(*trace);
    replaceTrace(trace, title, path);
    analyse();
    emit traceOpened();
}

void TraceDocument::showRemote(const std::shared_ptr<const profiler::Trace>& trace, const QString& place,
                               const QString& whyNotAnalysed, const QString& title)
{
    leaveFor(*trace);
    replaceTrace(trace, title.isEmpty() ? titleOf(place.toStdString()) : title, place.toStdString());
    m_whyNotAnalysed = whyNotAnalysed;
    emit analysedChanged();
    emit adviceChanged();
    if (m_configuration)
        emit configurationFound(*m_configuration, tr("configuration of %1").arg(m_title));
    emit traceOpened();
}

void TraceDocument::analyseHere()
{
    m_whyNotAnalysed.clear();
    analyse();
    emit analysedChanged();
}

void TraceDocument::setAdvice(std::shared_ptr<const Advised> advice)
{
    m_advice = std::move(advice);
    emit adviceChanged();
}

/// A later snapshot of the same trace.
void TraceDocument::take(std::shared_ptr<const profiler::Trace> trace)
{
    m_trace = std::move(trace);
    keepSelection();
    emit traceChanged();
}

void TraceDocument::replaceTrace(std::shared_ptr<const profiler::Trace> trace, const QString& title,
                                 const std::filesystem::path& path)
{
    m_isPart = false;
    m_analyser.reset();
    m_analysed.reset();
    m_advice.reset();
    m_whyNotAnalysed.clear();
    m_trace = std::move(trace);
    m_title = title;
    m_path = path;
    m_addedMetadata.clear();
    m_selection.clear();
    emit traceReplaced();
    emit traceChanged();
    emit analysedChanged();
    emit adviceChanged();
}

/// Slice ids differ between the snapshots of a file that is being read.
void TraceDocument::keepSelection()
{
    if (!m_selected || m_trace->captureStats().live)
        return;
    const auto same = [&](const profiler::Slice& slice) {
        return slice.begin == m_selected->begin && slice.kind == m_selected->kind &&
               slice.duration == m_selected->duration && m_trace->name(slice) == m_selectedName;
    };
    // Of nested slices with the same times, choose the one with the nearest depth.
    const auto deeper = [&](const profiler::Slice& slice) { return std::abs(slice.depth - m_selected->depth); };
    if (holds(*m_trace, m_selected->id))
        if (const profiler::Slice slice = m_trace->slice(m_selected->id); same(slice) && deeper(slice) == 0)
            return;
    const profiler::TrackId track = m_selected->id.track;
    std::optional<profiler::Slice> found;
    if (track.value < m_trace->tracks().size())
        m_trace->forEach(track, {m_selected->begin, m_selected->begin + std::chrono::nanoseconds(1)},
                         [&](const profiler::Slice& slice) {
                             if (same(slice) && (!found || deeper(slice) < deeper(*found)))
                                 found = slice;
                             return true;
                         });
    if (found)
        m_selection.selectSlice(found->id);
    else
        m_selection.clear();
}

} // namespace app
