#include "app/document/samples.h"
#include "app/document/session.h"
#include "app/document/session_state.h"
#include "app/document/trace_files.h"
#include "app/look/qstring.h"
#include "app/tables/slice_details.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <utility>

// The session's trace: opening, following, showing and exporting it.
namespace app {

namespace {

// Unfinished work must not read 100 %: formatShare() rounds to a tenth of a percent.
constexpr double kMostWhileReading = 0.99;

QString fileName(const std::filesystem::path& path)
{
    return asQString(path.filename().string());
}

/// The location and the hint, one per line, as details of a one-sentence message.
QString detailOf(const profiler::Error& error)
{
    QStringList lines;
    for (const std::string& line : {error.where, error.hint})
        if (!line.empty())
            lines << asQString(line);
    return lines.join('\n');
}

/// The outcome of a run of the app; none for other traces.
std::optional<config::TrainingConfig> configurationOf(const profiler::Trace& trace)
{
    const auto found = trace.metadata().find("config");
    if (found == trace.metadata().end())
        return std::nullopt;
    auto parsed = config::TrainingConfig::fromJson(found->second, "the trace's configuration");
    return parsed ? std::optional(*parsed) : std::nullopt;
}

} // namespace

std::shared_ptr<const profiler::Trace> Session::trace() const
{
    return m->trace;
}
std::shared_ptr<const Analysed> Session::analysed() const
{
    return m->analysed;
}
std::shared_ptr<const Advised> Session::advice() const
{
    return m->advice;
}
QString Session::traceTitle() const
{
    return m->title;
}
std::filesystem::path Session::tracePath() const
{
    return m->path;
}
const std::optional<config::TrainingConfig>& Session::traceConfiguration() const
{
    return m->traceConfiguration;
}
const QString& Session::whyNotAnalysed() const
{
    return m->whyNotAnalysed;
}

void Session::connectTrace()
{
    const auto take = [this](const std::shared_ptr<const profiler::Trace>& trace) {
        m->trace = trace;
        emit traceChanged();
        m->analyser.request(trace, m->traceConfiguration);
    };
    connect(&m->recordingFollower, &RecordingFollower::snapshot, this, &Session::showRecording);
    connect(&m->follower, &TraceFollower::snapshot, this, take);
    connect(&m->follower, &TraceFollower::finished, this, [this, take](const auto& trace) {
        m->ownRun = true; // before its analysis
        m->following = false;
        take(trace);
        emit runFinished();
    });
    connect(&m->follower, &TraceFollower::failed, this, [this](const profiler::Error& error) {
        // A training without recording, or one that died before it wrote anything, has no trace.
        if (m->traceConfiguration && (*m->traceConfiguration)[config::key::captureEnabled])
            emit noticed(tr("This run has no trace."), asQString(error.message()), false);
        m->following = false;
        emit runFinished();
    });
    connect(&m->loader, &TraceLoader::progressed, this,
            [this](double share) { emit loading(tr("Opening the trace"), std::min(share, kMostWhileReading)); });
    const auto loadNoTrace = [this] {
        emit loading({}, 1);
        if (std::exchange(m->previewing, false))
            m->isPart = true;
        settlePart();
    };
    connect(&m->loader, &TraceLoader::configurationRead, this,
            [this, loadNoTrace](const std::filesystem::path& path, const config::TrainingConfig& configuration) {
                loadNoTrace();
                takeConfiguration(path, configuration);
            });
    connect(&m->loader, &TraceLoader::configurationRefused, this,
            [this, loadNoTrace](const std::filesystem::path&, const QString& why) {
                loadNoTrace();
                refuseConfiguration(why);
            });
    connect(&m->loader, &TraceLoader::loaded, this, &Session::showLoaded);
    connect(&m->loader, &TraceLoader::previewed, this, &Session::showPreview);
    connect(&m->loader, &TraceLoader::failed, this,
            [this](const std::filesystem::path& path, const profiler::Error& error) {
                emit loading({}, 1);
                // The trace on screen may be a preview of this file or of the previous one.
                if (std::exchange(m->previewing, false))
                    m->isPart = true;
                if (m->isPart && !m->analysed)
                    m->analyser.request(m->trace, std::nullopt);
                QString detail = detailOf(error);
                if (m->isPart)
                    detail += (detail.isEmpty() ? "" : "\n") + tr("Only part of %1 is shown.").arg(m->title);
                emit noticed(tr("%1 cannot be opened: %2").arg(fileName(path), asQString(error.what.text)), detail,
                             true);
            });
    // If both are running, reports the one that the user waits for.
    const auto tellExport = [this](double share) {
        if (!m->loader.isRunning())
            emit loading(tr("Exporting the trace"), share);
    };
    connect(&m->saver, &TraceSaver::progressed, this,
            [tellExport](double share) { tellExport(std::min(share, kMostWhileReading)); });
    connect(&m->saver, &TraceSaver::saved, this, [this, tellExport](const std::filesystem::path& path) {
        tellExport(1);
        const QString what =
            m->isPart ? tr("The loaded part of the trace was exported to %1.") : tr("The trace was exported to %1.");
        emit noticed(what.arg(fileName(path)), asQString(path.string()), false);
    });
    connect(&m->saver, &TraceSaver::failed, this,
            [this, tellExport](const std::filesystem::path& path, const profiler::Error& error) {
                tellExport(1);
                emit noticed(tr("Could not save %1: %2").arg(fileName(path), asQString(error.what.text)),
                             detailOf(error), true);
            });
    connect(&m->analyser, &Analyser::analysed, this, [this](const std::shared_ptr<const Analysed>& result) {
        m->analysed = result;
        emit analysedChanged();
        if (!result->whyNoRepetition.isEmpty())
            emit noticed(tr("No steps were inferred."), result->whyNoRepetition, false);
        if (!result->whyNoRange.isEmpty())
            emit noticed(tr("No range was used as a step."), result->whyNoRange, false);
    });
    connect(&m->analyser, &Analyser::failed, this, [this](const profiler::Error& error) {
        if (!m->analysed)
            m->whyNotAnalysed = asQString(error.message());
        emit noticed(tr("The trace was not analysed: %1.").arg(asQString(error.what.text)), asQString(error.message()),
                     true);
        emit analysedChanged();
        emit adviceChanged();
    });
    connect(&m->analyser, &Analyser::advised, this, [this](const std::shared_ptr<const Advised>& advice) {
        m->advice = advice;
        emit adviceChanged();
    });
}

void Session::setStepsByRepetition(bool on)
{
    m->analyser.setStepSource({.repetition = on, .range = {}, .marksOnly = !on});
    m->analyser.request(m->trace, m->traceConfiguration);
}

void Session::setStepRange(const QString& name)
{
    m->analyser.setStepSource({.repetition = false, .range = name.toStdString(), .marksOnly = false});
    m->analyser.request(m->trace, m->traceConfiguration);
}

void Session::openTrace(const std::filesystem::path& path)
{
    load(path, TraceLoader::Expect::Trace);
}

void Session::openFile(const std::filesystem::path& path)
{
    load(path, TraceLoader::Expect::TraceOrConfiguration);
}

void Session::load(const std::filesystem::path& path, TraceLoader::Expect expect)
{
    emit noticeOutdated();
    if (runState() != RunState::Idle) {
        emit noticed(tr("A training run is in progress. Stop it before you open another trace."), {}, false);
        return;
    }
    if (std::exchange(m->previewing, false))
        m->isPart = true; // kept on screen if the file cannot be opened
    m->loader.load(path, expect);
    emit loading(tr("Opening the trace"), 0);
}

void Session::cancelLoading()
{
    if (!m->loader.isRunning()) {
        m->saver.cancel();
        emit loading({}, 1);
        return;
    }
    m->loader.cancel();
    emit loading({}, 1);
    if (std::exchange(m->previewing, false))
        m->isPart = true;
    settlePart();
}

/// Only part of a file is on screen, and no more will be read.
void Session::settlePart()
{
    if (m->isPart && !m->analysed) {
        emit noticed(tr("Opening %1 was cancelled. Only part of it is shown.").arg(m->title), {}, false);
        m->analyser.request(m->trace, std::nullopt);
    }
}

void Session::exportTrace(const std::filesystem::path& path)
{
    emit noticeOutdated();
    if (!holdsAnything(*m->trace)) {
        emit noticed(tr("Nothing to export. Run a training or open a trace first."), {}, false);
        return;
    }
    if (m->saver.isRunning()) {
        emit noticed(tr("Another export is still in progress. Try again when it is done."), {}, false);
        return;
    }
    if (m->previewing) {
        emit noticed(tr("%1 is still loading. Export it when loading is done.").arg(m->title), {}, false);
        return;
    }
    emit loading(tr("Exporting the trace"), 0);
    m->saver.save(m->trace, path, m->along);
}

void Session::keepWithTrace(const std::string& key, const std::string& text)
{
    m->along[key] = text;
}

bool Session::isLoading() const
{
    return m->loader.isRunning();
}

bool Session::isPartial() const
{
    return m->previewing || m->isPart;
}

bool Session::isExporting() const
{
    return m->saver.isRunning();
}

void Session::showPreview(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace)
{
    if (!std::exchange(m->previewing, true)) {
        leaveRun(*trace);
        replaceTrace(std::move(trace), titleOf(path), path);
        return;
    }
    m->trace = std::move(trace);
    emit traceChanged();
}

QString Session::titleOf(const std::filesystem::path& path) const
{
    return m->traceConfiguration ? runTitle(*m->traceConfiguration, m->runs) : fileName(path);
}

void Session::leaveRun(const profiler::Trace& trace)
{
    m->recordingFollower.leave(); // the user opened another trace in the meantime
    m->showingRecording = false;
    leaveOwnRun(trace);
}

void Session::leaveOwnRun(const profiler::Trace& trace)
{
    // The final trace of a run would replace the trace that was opened after its end.
    m->follower.leave();
    if (std::exchange(m->following, false))
        emit runFinished();
    m->steps.clear();
    m->lastLoss.reset();
    m->epochs.clear();
    m->hello.reset();
    m->ownRun = false;
    m->traceConfiguration = configurationOf(trace);
}

void Session::followRecording(const std::filesystem::path& trace, std::int64_t recorder, const QString& title)
{
    m->recordingTitle = title;
    m->recordingFollower.follow(trace, recorder);
}

void Session::showRecording(const std::shared_ptr<const profiler::Trace>& part)
{
    if (m->loader.isRunning() || isRunOpen())
        return; // the user has opened another trace
    if (!std::exchange(m->showingRecording, true)) {
        leaveOwnRun(*part);
        replaceTrace(part, tr("%1 · recording").arg(m->recordingTitle), {});
    } else {
        m->trace = part;
        emit traceChanged();
    }
    m->analyser.request(part, std::nullopt);
}

/// The recording has ended. Its trace replaces its preview, if any.
void Session::leaveRecording()
{
    m->recordingFollower.leave();
    if (std::exchange(m->showingRecording, false))
        m->isPart = true;
}

void Session::showLoaded(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace)
{
    emit loading({}, 1);
    leaveRun(*trace);
    const QString title = titleOf(path);
    if (std::exchange(m->previewing, false)) {
        // The view keeps the position that the user chose during loading.
        m->trace = std::move(trace);
        m->title = title;
        emit traceChanged();
        settleResults(); // the complete file contains the configuration; its preview may not
    } else {
        replaceTrace(std::move(trace), title, path);
    }
    m->analyser.request(m->trace, m->traceConfiguration);
    // Advice is about this run, so changes are measured against its configuration. Traces of other tools have none; the
    // user's configuration stays.
    if (m->traceConfiguration)
        setConfiguration(*m->traceConfiguration, tr("configuration of %1").arg(title));
    const bool ownRun =
        std::any_of(m->runs.begin(), m->runs.end(), [&](const RunRecord& run) { return run.trace() == path; });
    if (!ownRun && !isSampleFile(path))
        addRecentTrace(asQString(path.string()));
    emit traceOpened();
}

void Session::replaceTrace(std::shared_ptr<const profiler::Trace> trace, const QString& title,
                           const std::filesystem::path& path)
{
    m->isPart = false;
    m->analyser.reset();
    m->analysed.reset();
    m->advice.reset();
    m->whyNotAnalysed.clear();
    const bool measuring = m->experiments.isRunning();
    m->experiments.abandon();
    m->trace = std::move(trace);
    m->title = title;
    m->path = path;
    m->along.clear();
    refreshJournal();
    emit traceReplaced();
    emit traceChanged();
    emit analysedChanged();
    emit adviceChanged();
    emit journalChanged();
    if (measuring) {
        emit busyChanged();
        emit noticed(tr("Measurement stopped: it belonged to the previous trace."), {}, false);
    }
}

} // namespace app
