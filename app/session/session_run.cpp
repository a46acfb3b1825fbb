#include "app/session/session.h"
#include "app/session/session_state.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>

// The session's run and its trace: what the trainer tells and what it writes are joined here.
namespace app {

namespace protocol = config::protocol;

namespace {

QString asQString(const std::string& text)
{
    return QString::fromStdString(text);
}

QString lines(std::initializer_list<QString> parts)
{
    QStringList filled;
    for (const QString& part : parts)
        if (!part.isEmpty())
            filled << part;
    return filled.join('\n');
}

/// What a run of the app wrote about itself; none for a trace from elsewhere.
std::optional<config::TrainingConfig> configurationOf(const profiler::Trace& trace)
{
    const auto found = trace.metadata().find("config");
    if (found == trace.metadata().end())
        return std::nullopt;
    auto parsed = config::TrainingConfig::fromJson(found->second, "the trace's configuration");
    return parsed ? std::optional(*parsed) : std::nullopt;
}

RunOutcome outcomeOf(const RunEnd& end, const std::vector<protocol::StepProgress>& steps)
{
    RunOutcome outcome;
    outcome.state = end.failed ? "failed" : end.asked ? "stopped" : "finished";
    outcome.message = end.message;
    if (end.done) {
        outcome.steps = end.done->steps;
        outcome.seconds = end.done->seconds;
        outcome.samplesPerSecond = end.done->samplesPerSecond;
        outcome.finalLoss = end.done->finalLoss;
        outcome.validationAccuracy = end.done->validationAccuracy;
    } else if (!steps.empty()) {
        outcome.steps = steps.back().step + 1;
        outcome.samplesPerSecond = steps.back().samplesPerSecond;
        outcome.finalLoss = steps.back().loss.value_or(0);
    }
    return outcome;
}

} // namespace

QString runTitle(const config::TrainingConfig& configuration, const std::vector<RunRecord>& runs)
{
    const QString workload = asQString(configuration.text("workload"));
    const auto baseline = std::find_if(runs.rbegin(), runs.rend(), [&](const RunRecord& run) {
        return run.configuration.text("workload") == configuration.text("workload");
    });
    if (baseline == runs.rend())
        return workload;
    const auto changes = config::difference(baseline->configuration, configuration);
    if (changes.empty())
        return workload;
    if (changes.size() > 1)
        return Session::tr("%1 · %2 changes").arg(workload).arg(changes.size());
    const std::string_view label = config::findKnob(changes[0].key)->label;
    return QString("%1 · %2 = %3")
        .arg(workload, QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size())), asQString(changes[0].b));
}

RunState Session::runState() const
{
    return m->run.state();
}
const std::vector<protocol::StepProgress>& Session::stepHistory() const
{
    return m->steps;
}
const std::vector<protocol::EpochProgress>& Session::epochHistory() const
{
    return m->epochs;
}
const std::optional<protocol::Hello>& Session::hello() const
{
    return m->hello;
}
const std::vector<RunRecord>& Session::runs() const
{
    return m->runs;
}

void Session::connectRun()
{
    connect(&m->run, &RunController::stateChanged, this, &Session::runStateChanged);
    connect(&m->run, &RunController::ended, this, &Session::endRun);
    connect(&m->run, &RunController::progressed, this, [this](const protocol::Progress& progress) {
        if (const auto* step = std::get_if<protocol::StepProgress>(&progress))
            m->steps.push_back(*step);
        else if (const auto* epoch = std::get_if<protocol::EpochProgress>(&progress))
            m->epochs.push_back(*epoch);
        else if (const auto* hello = std::get_if<protocol::Hello>(&progress))
            m->hello = *hello;
        else if (const auto* notice = std::get_if<protocol::Notice>(&progress))
            emit noticed(asQString(notice->what), lines({asQString(notice->where), asQString(notice->mend)}),
                         notice->severity == protocol::Notice::Severity::Error);
        emit progressed(progress);
    });
}

void Session::start()
{
    if (runState() != RunState::Idle || experimentRunning())
        return;
    auto run = makeRun(runsRoot(), m->configuration);
    if (!run) {
        emit noticed(tr("The training was not started."), asQString(run.error().message()), true);
        return;
    }
    m->loader.cancel();
    emit loading({}, 1);
    if (const auto started = m->run.start(m->configuration, run->trace()); !started) {
        static_cast<void>(removeRun(*run)); // an empty folder of a run that never was
        emit noticed(tr("The training was not started."), asQString(started.error().message()), true);
        return;
    }
    m->running = *run;
    m->runs.insert(m->runs.begin(), std::move(*run));
    m->steps.clear();
    m->epochs.clear();
    m->hello.reset();
    m->traceConfiguration = m->configuration;
    replaceTrace(profiler::TraceBuilder().finish(), runTitle(m->configuration, m->runs), m->running->trace());
    m->follower.follow(m->running->trace());
    emit runsChanged();
}

void Session::pause()
{
    m->run.pause();
}
void Session::resume()
{
    m->run.resume();
}
void Session::stop()
{
    m->run.stop();
}

void Session::endRun(const RunEnd& end)
{
    m->follower.finish();
    if (m->running) {
        m->running->outcome = outcomeOf(end, m->steps);
        if (const auto saved = saveOutcome(*m->running); !saved)
            emit noticed(tr("The result of the run was not kept."), asQString(saved.error().message()), true);
        for (RunRecord& run : m->runs)
            if (run.folder == m->running->folder)
                run = *m->running;
        m->running.reset();
        emit runsChanged();
    }
    if (!end.message.isEmpty())
        emit noticed(end.message, end.detail, end.failed);
}

void Session::reloadRuns()
{
    if (m->running)
        return;
    m->runs = readRuns(runsRoot());
    emit runsChanged();
}

void Session::openRun(const RunRecord& run)
{
    if (m->running && m->running->folder == run.folder)
        return;
    openTrace(run.trace());
}

void Session::deleteRun(const RunRecord& run)
{
    if (m->running && m->running->folder == run.folder)
        return;
    if (const auto removed = removeRun(run); !removed)
        emit noticed(tr("The run was not removed."), asQString(removed.error().message()), true);
    reloadRuns();
}

std::shared_ptr<const profiler::Trace> Session::trace() const
{
    return m->trace;
}
std::shared_ptr<const Analysed> Session::analysed() const
{
    return m->analysed;
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

void Session::connectTrace()
{
    const auto take = [this](const std::shared_ptr<const profiler::Trace>& trace) {
        m->trace = trace;
        emit traceChanged();
        m->analyser.request(trace, m->traceConfiguration);
    };
    connect(&m->follower, &TraceFollower::snapshot, this, take);
    connect(&m->follower, &TraceFollower::finished, this, take);
    connect(&m->follower, &TraceFollower::failed, this, [this](const profiler::Error& error) {
        // A training that records nothing, or died before it wrote anything, has no trace to show.
        if (m->traceConfiguration && (*m->traceConfiguration)[config::key::captureEnabled])
            emit noticed(tr("There is no trace of this run."), asQString(error.message()), false);
    });
    connect(&m->loader, &TraceLoader::progressed, this,
            [this](double share) { emit loading(tr("Opening the trace"), share); });
    connect(&m->loader, &TraceLoader::loaded, this, &Session::showLoaded);
    connect(&m->loader, &TraceLoader::failed, this, [this](const profiler::Error& error) {
        emit loading({}, 1);
        emit noticed(tr("The trace cannot be opened."), asQString(error.message()), true);
    });
    connect(&m->analyser, &Analyser::analysed, this, [this](const std::shared_ptr<const Analysed>& result) {
        m->analysed = result;
        emit analysedChanged();
    });
}

void Session::openTrace(const std::filesystem::path& path)
{
    if (runState() != RunState::Idle) {
        emit noticed(tr("A training is running: stop it first, then open another trace."), {}, false);
        return;
    }
    emit loading(tr("Opening the trace"), 0);
    m->loader.load(path);
}

void Session::cancelLoading()
{
    m->loader.cancel();
    emit loading({}, 1);
}

void Session::showLoaded(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace)
{
    emit loading({}, 1);
    m->steps.clear();
    m->epochs.clear();
    m->hello.reset();
    m->traceConfiguration = configurationOf(*trace);
    const QString title =
        m->traceConfiguration ? runTitle(*m->traceConfiguration, m->runs) : asQString(path.filename().string());
    replaceTrace(std::move(trace), title, path);
    m->analyser.request(m->trace, m->traceConfiguration);
    // What the advisor says is about this run: its configuration is what a change is measured against.
    if (m->traceConfiguration)
        setConfiguration(*m->traceConfiguration, tr("configuration of %1").arg(title));
    const profiler::CaptureStats& stats = m->trace->captureStats();
    if (stats.cut || !stats.notes.empty()) {
        QStringList notes;
        for (const std::string& note : stats.notes)
            notes << asQString(note);
        emit noticed(stats.cut
                         ? tr("This trace was cut: the training did not end it. What was recorded until then is shown.")
                         : tr("This trace is not whole."),
                     notes.join('\n'), false);
    }
}

void Session::replaceTrace(std::shared_ptr<const profiler::Trace> trace, const QString& title,
                           const std::filesystem::path& path)
{
    m->analyser.reset();
    m->analysed.reset();
    m->experiments.forgetAll();
    m->trace = std::move(trace);
    m->title = title;
    m->path = path;
    emit traceReplaced();
    emit traceChanged();
    emit analysedChanged();
}

} // namespace app
