#include "app/document/session.h"
#include "app/document/session_state.h"
#include "app/look/qstring.h"
#include "profiler/model/trace_builder.h"
#include "trainer/config/dataset_check.h"

#include <algorithm>
#include <utility>

// The session's run: combines the trainer's messages with the trace that it writes.
namespace app {

namespace protocol = config::protocol;

namespace {

QString lines(std::initializer_list<QString> parts)
{
    QStringList filled;
    for (const QString& part : parts)
        if (!part.isEmpty())
            filled << part;
    return filled.join('\n');
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
        outcome.validationMetric = end.done->validationAccuracy;
        outcome.metric = asQString(end.done->metric);
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
    return QString("%1 · %2 = %3").arg(workload, asQString(label), asQString(changes[0].b));
}

RunState Session::runState() const
{
    return m->run.state();
}
const std::vector<protocol::StepProgress>& Session::stepHistory() const
{
    return m->steps;
}
std::optional<double> Session::lastLoss() const
{
    return m->lastLoss;
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
        if (const auto* step = std::get_if<protocol::StepProgress>(&progress)) {
            m->steps.push_back(*step);
            if (step->loss)
                m->lastLoss = step->loss;
        } else if (const auto* epoch = std::get_if<protocol::EpochProgress>(&progress))
            m->epochs.push_back(*epoch);
        else if (const auto* hello = std::get_if<protocol::Hello>(&progress))
            m->hello = *hello;
        else if (const auto* notice = std::get_if<protocol::Notice>(&progress))
            emit noticed(asQString(notice->what), lines({asQString(notice->where), asQString(notice->hint)}),
                         notice->severity == protocol::Notice::Severity::Error);
        emit progressed(progress);
    });
}

void Session::connectGate()
{
    connect(&m->gate, &CodeGate::asked, this, &Session::codeAsked);
    connect(&m->gate, &CodeGate::failed, this, [this](const profiler::Error& error) {
        emit noticed(tr("Not started: %1").arg(asQString(error.what.text)),
                     lines({asQString(error.where), asQString(error.hint)}), true);
    });
}

void Session::answerCode(const CodeFile& file, CodeGate::Answer answer)
{
    m->gate.answer(file, answer);
}

void Session::passGate(std::function<void()> go)
{
    m->gate.pass(codeOf(m->configuration), [this, go = std::move(go)](const QString& sha256) {
        // The trainer runs only the file with this hash; the run's record contains it.
        if (!sha256.isEmpty())
            static_cast<void>(setKnob(config::key::trustedSha256.name, sha256));
        passPackage(go);
    });
}

// A compiled model for validation is code, too, and needs permission like a model file.
void Session::passPackage(const std::function<void()>& go)
{
    config::TrainingConfig package = m->configuration;
    const std::string path = package[config::key::evalPackage];
    if (path.empty() || !package.set(config::key::workload.name, "torchscript") ||
        !package.set(config::key::modelPath.name, path)) {
        go();
        return;
    }
    m->gate.pass(codeOf(package), [this, go](const QString& sha256) {
        static_cast<void>(setKnob(config::key::evalPackageSha256.name, sha256));
        go();
    });
}

void Session::passProgram(const std::vector<std::string>& command, const std::filesystem::path& folder,
                          std::function<void()> go)
{
    emit noticeOutdated();
    m->gate.pass(codeOf(command, folder), [go = std::move(go)](const QString&) { go(); });
}

void Session::start()
{
    if (!mayStart() || !takeEdits())
        return;
    const auto goOn = [this](const std::optional<config::ConfigError>& problem) {
        emit knobProblem(asQString(std::string(config::key::datasetPath.name)),
                         problem ? asQString(problem->allowed) : QString());
        if (!problem)
            return passGate([this] { startRun(); });
        emit noticed(tr("Training not started: its dataset cannot be used."),
                     asQString(problem->value.empty() ? problem->allowed : problem->value + ": " + problem->allowed),
                     true);
    };
    if (m->configuration[config::key::datasetPath].empty()) // no files to check
        return goOn(config::datasetProblem(m->configuration));
    // A folder on a network share may take seconds to respond, or never respond.
    m->datasetCheck.start(
        [goOn, configuration = m->configuration](const std::stop_token&, const Background::Post& post) {
            post([goOn, problem = config::datasetProblem(configuration)] { goOn(problem); });
        },
        [this](const profiler::Error& error) {
            emit noticed(tr("Training not started: its dataset was not checked."), asQString(error.message()), true);
        });
}

void Session::startRun()
{
    if (!mayStart())
        return;
    auto run = makeRun(runsRoot(), m->configuration);
    if (!run) {
        emit noticed(tr("Training not started."), asQString(run.error().message()), true);
        return;
    }
    m->loader.cancel();
    if (std::exchange(m->previewing, false))
        m->isPart = true;
    emit loading({}, 1);
    if (const auto started = m->run.start(m->configuration, run->trace()); !started) {
        static_cast<void>(removeRun(*run)); // the empty folder of a run that did not start
        settlePart();
        emit noticed(tr("Training not started."), asQString(started.error().message()), true);
        return;
    }
    m->running = *run;
    m->runLock = lockRun(*run);
    m->runs.insert(m->runs.begin(), std::move(*run));
    m->steps.clear();
    m->lastLoss.reset();
    m->epochs.clear();
    m->hello.reset();
    m->traceConfiguration = m->configuration;
    m->ownRun = false;
    replaceTrace(profiler::TraceBuilder().finish(), runTitle(m->configuration, m->runs), m->running->trace());
    m->following = true;
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

bool Session::isRunOpen() const
{
    return runState() != RunState::Idle || m->following;
}

void Session::endRun(const RunEnd& end)
{
    m->follower.finish();
    if (m->running) {
        m->running->outcome = outcomeOf(end, m->steps);
        if (const auto saved = saveOutcome(*m->running); !saved)
            emit noticed(tr("The result of the run could not be saved."), asQString(saved.error().message()), true);
        for (RunRecord& run : m->runs)
            if (run.folder == m->running->folder)
                run = *m->running;
        m->running.reset();
        m->runLock.reset();
        emit runsChanged();
    }
    if (!end.message.isEmpty())
        emit noticed(end.message, end.detail, end.failed);
}

void Session::reloadRuns()
{
    if (m->running)
        return;
    m->store.read(runsRoot());
}

void Session::connectRuns()
{
    connect(&m->store, &RunStore::runsRead, this, &Session::takeRuns);
    connect(&m->store, &RunStore::readingFailed, this, [this](const profiler::Error& error) {
        emit noticed(tr("The list of runs cannot be read."), asQString(error.message()), true);
    });
    connect(&m->store, &RunStore::removed, this, [this](const std::filesystem::path& folder) {
        std::erase_if(m->runs, [&](const RunRecord& known) { return known.folder == folder; });
        emit runsChanged();
    });
    connect(&m->store, &RunStore::removalFailed, this, [this](const RunRecord&, const profiler::Error& error) {
        emit noticed(tr("Could not delete the run: %1.").arg(asQString(error.what.text)),
                     lines({asQString(error.where), asQString(error.hint)}), true);
        reloadRuns(); // its trace may be missing although its folder exists
    });
}

void Session::takeRuns(std::vector<RunRecord> runs)
{
    // A training that was started in the meantime has newer state here.
    if (m->running) {
        std::erase_if(runs, [&](const RunRecord& run) { return run.folder == m->running->folder; });
        runs.insert(runs.begin(), *m->running);
    }
    m->runs = std::move(runs);
    emit runsChanged();
}

void Session::openRun(const RunRecord& run)
{
    if (m->running && m->running->folder == run.folder)
        return;
    openTrace(run.trace());
}

void Session::compareWith(const RunRecord& run)
{
    emit comparisonWanted(run);
}

void Session::deleteRun(const RunRecord& run)
{
    emit noticeOutdated();
    m->store.remove(run);
}

} // namespace app
