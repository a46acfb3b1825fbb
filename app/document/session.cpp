#include "app/document/session.h"

#include "advisor/evidence/batch_facts.h"
#include "advisor/runner/shell_words.h"
#include "app/document/session_state.h"
#include "app/look/qstring.h"
#include "app/record/record_settings.h"
#include "profiler/model/trace_builder.h"

#include <QSettings>
#include <algorithm>
#include <utility>

namespace app {

namespace {

constexpr int kMostUndo = 200;
constexpr int kKeepMs = 300;
constexpr auto kMayCopy = "program/copies";

std::string asString(const QString& text)
{
    return text.toStdString();
}
/// The problem that the value of `key` would cause on this machine, if any.
std::optional<QString> newProblem(const config::TrainingConfig& before, const config::TrainingConfig& after,
                                  std::string_view key, bool gpuAvailable)
{
    const auto known = before.problems(gpuAvailable);
    for (const config::ConfigError& problem : after.problems(gpuAvailable)) {
        const bool isNew =
            std::none_of(known.begin(), known.end(), [&](const auto& p) { return p.key == problem.key; });
        if (isNew && problem.key == key)
            return asQString(problem.message());
    }
    return std::nullopt;
}

} // namespace

Session::Session(QObject* parent) : QObject(parent), m(std::make_unique<State>(this))
{
    m->trace = profiler::TraceBuilder().finish();
    connect(&m->description, &TrainerDescription::changed, this, &Session::descriptionChanged);
    connect(&m->description, &TrainerDescription::failed, this, [this](const profiler::Error& error) {
        emit noticed(tr("Nothing can be trained: %1").arg(asQString(error.what.text)), asQString(error.message()),
                     true);
    });
    m->undo.setUndoLimit(kMostUndo);
    m->keepSoon.setSingleShot(true);
    m->keepSoon.setInterval(kKeepMs);
    connect(&m->keepSoon, &QTimer::timeout, this, &Session::keepSession);
    connectBusy();
    connectRun();
    connectRuns();
    connectGate();
    connectTrace();
    connectExperiments();
    connectLevelCosts();
    connectTuning();
}

Session::~Session()
{
    if (m->keepSoon.isActive())
        keepSession();
    // The work waited for below may take seconds; a window that opens during that time continues from the saved state.
    m->lock.reset();
    // Members must not call back into a partly destroyed session.
    for (QObject* part : std::initializer_list<QObject*>{
             &m->description, &m->gate, &m->run, &m->store, &m->follower, &m->recordingFollower, &m->loader, &m->saver,
             &m->reports, &m->analyser, &m->experiments, &m->tuning, &m->levelCosts, &m->undo})
        part->disconnect(this);
}

const config::TrainingConfig& Session::configuration() const
{
    return m->configuration;
}
QUndoStack* Session::undoStack()
{
    return &m->undo;
}
const config::protocol::Description& Session::description() const
{
    return m->description.get();
}
bool Session::descriptionKnown() const
{
    return m->description.isKnown();
}
void Session::refreshDescription()
{
    m->description.refresh();
}

std::optional<QString> Session::setKnob(std::string_view key, const QString& text)
{
    if (!config::findKnob(key))
        return tr("Unknown setting: %1.").arg(asQString(key));
    config::TrainingConfig changed = m->configuration;
    if (const auto set = changed.set(key, asString(text)); !set)
        return asQString(set.error().message());
    if (changed == m->configuration)
        return std::nullopt;
    if (descriptionKnown())
        if (auto problem = newProblem(m->configuration, changed, key, description().gpuAvailable))
            return problem;
    push(SessionChange::ofKnob(std::string(key), m->configuration.text(key), changed.text(key)));
    return std::nullopt;
}

void Session::setConfiguration(const config::TrainingConfig& configuration, const QString& undoText)
{
    if (configuration == m->configuration)
        return;
    SessionChange change;
    change.text = undoText;
    change.knobs = config::difference(m->configuration, configuration);
    push(std::move(change));
}

void Session::loadConfiguration(const std::filesystem::path& path)
{
    emit noticeOutdated();
    if (const auto loaded = config::TrainingConfig::load(path))
        takeConfiguration(path, *loaded);
    else
        refuseConfiguration(asQString(loaded.error().message()));
}

void Session::takeConfiguration(const std::filesystem::path& path, const config::TrainingConfig& configuration)
{
    setConfiguration(configuration, tr("configuration from %1").arg(asQString(path.filename().string())));
}

void Session::refuseConfiguration(const QString& why)
{
    emit noticed(tr("Invalid configuration. The current one is unchanged."), why, true);
}

bool Session::experimentRunning() const
{
    return m->experiments.isRunning() || m->levelCosts.isMeasuring();
}
const ExperimentController& Session::experiments() const
{
    return m->experiments;
}

void Session::connectExperiments()
{
    connect(&m->experiments, &ExperimentController::progressed, this, &Session::experimentProgressed);
    connect(&m->experiments, &ExperimentController::finished, this,
            [this](const QString& rule, const advisor::ExperimentResult& result) {
                const auto* measured = m->experiments.newest(rule);
                m->addPredictions({&result, 1}, measured ? measured->program : Origin());
                settleResults();
                emit journalChanged();
            });
    connect(&m->experiments, &ExperimentController::finished, this, &Session::experimentFinished);
    connect(&m->experiments, &ExperimentController::failed, this, &Session::experimentFailed);
}

void Session::startExperiment(const advisor::RuleAdvice& advice)
{
    // A training at the same time would share the CPU with both arms and skew the results.
    if (!advice.advice.toggle || !mayStart())
        return;
    if (!programOnScreen().id.isEmpty())
        return measureProgram(advice);
    if (!takeEdits())
        return;
    if (m->configuration.text(advice.advice.toggle->key) == advice.advice.toggle->to) {
        emit noticed(tr("Not measured: the configuration already contains this change."),
                     tr("Run the training again to see its effect."), false);
        return;
    }
    passGate([this, advice] {
        if (!mayStart())
            return;
        m->experiments.start(advice, m->configuration);
        emit experimentStarted(asQString(advice.id));
    });
}

/// The program of the trace on screen; reports the reason by noticed() if there is none.
std::optional<ProgramMeasurement> Session::recordedProgram()
{
    const auto recorded = [this](const char* key) {
        const auto found = m->trace->metadata().find(key);
        return found == m->trace->metadata().end() ? std::string() : found->second;
    };
    const auto words = advisor::runner::shellWords(recorded("record.command"));
    const std::string folder = recorded("record.directory");
    if (!words || words->empty() || folder.empty()) {
        emit noticed(tr("Not measured: the trace does not contain the recorded command and its folder."),
                     tr("Record the program again."), true);
        return std::nullopt;
    }
    return ProgramMeasurement{.trace = m->trace,
                              .command = *words,
                              .environment = recordedEnvironment(recorded("record.command"), folder),
                              .folder = folder,
                              .kept = {},
                              .rules = m->advice ? m->advice->rules : std::vector<advisor::RuleAdvice>(),
                              .origin = programOnScreen()};
}

/// Calls `go` when the user allows the program to run, if its trace is still on screen then.
void Session::passRecorded(ProgramMeasurement what, const std::function<void(ProgramMeasurement)>& go)
{
    const std::vector<std::string> command = what.command;
    const std::filesystem::path folder = what.folder;
    passProgram(command, folder, [this, go, what = std::move(what)] {
        passIsolation(what.folder, [this, go, what](advisor::runner::Isolation isolation) {
            if (m->trace != what.trace || !mayStart())
                return;
            ProgramMeasurement isolated = what;
            isolated.isolation = isolation;
            go(std::move(isolated));
        });
    });
}

/// Measures with the recorded program of the trace on screen.
void Session::measureProgram(const advisor::RuleAdvice& advice)
{
    auto what = recordedProgram();
    if (!what)
        return;
    for (const KeptChange& kept : m->journal.changes)
        if (kept.toggle.key != advice.advice.toggle->key)
            what->kept.push_back({kept.toggle.key, kept.toggle.to});
    passRecorded(std::move(*what), [this, advice](ProgramMeasurement isolated) {
        m->experiments.startProgram(advice, std::move(isolated));
        emit experimentStarted(asQString(advice.id));
    });
}

/// How the user's files are protected from the program; asks once if this needs a copy of them.
void Session::passIsolation(const std::filesystem::path& folder,
                            const std::function<void(advisor::runner::Isolation)>& go)
{
    using advisor::runner::Isolation;
    const auto possible = advisor::runner::checkPrivateViews();
    if (possible)
        return go(Isolation::Overlay);
    if (QSettings().value(kMayCopy).toBool())
        return go(Isolation::Copy);
    m->afterCopyAsked = [go] { go(Isolation::Copy); };
    emit copyAsked(asQString(folder.string()), asQString(possible.error().what.text));
}

void Session::answerCopy(bool allowed)
{
    const auto go = std::exchange(m->afterCopyAsked, nullptr);
    if (!allowed || !go)
        return;
    QSettings().setValue(kMayCopy, true);
    go();
}

void Session::cancelExperiment()
{
    m->experiments.cancel();
    emit busyChanged();
}

std::optional<std::chrono::seconds> Session::expectedDuration(const advisor::RuleAdvice& advice) const
{
    double us = 0;
    const std::string& measure = advice.advice.measure;
    if (measure == "steps" && m->analysed)
        us = m->analysed->facts.statistics.steadyMeanUs;
    else if (!m->epochs.empty())
        us = 1e6 * (measure == "epoch" ? m->epochs.back().epochSeconds : m->epochs.back().validationSeconds);
    if (us <= 0)
        return std::nullopt;
    const double validationUs = m->epochs.empty() ? 0 : 1e6 * m->epochs.back().validationSeconds;
    const bool isProgram = !programOnScreen().id.isEmpty();
    return advisor::expectedDuration(
        ExperimentController::planFor(advice, isProgram ? config::TrainingConfig() : m->configuration), us,
        validationUs);
}

} // namespace app
