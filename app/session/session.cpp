#include "app/session/session.h"

#include "app/session/configuration_command.h"
#include "app/session/session_state.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>

namespace app {

namespace {

std::string asString(const QString& text)
{
    return text.toStdString();
}
QString asQString(const std::string& text)
{
    return QString::fromStdString(text);
}

/// The trouble that setting `key` would make on this machine, if any.
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

Session::Session(QObject* parent) : QObject(parent), m(std::make_unique<State>())
{
    m->trace = profiler::TraceBuilder().finish();
    connect(&m->description, &TrainerDescription::changed, this, &Session::descriptionChanged);
    connect(&m->description, &TrainerDescription::failed, this, [this](const profiler::Error& error) {
        emit noticed(tr("Nothing can be trained: %1").arg(asQString(error.what)), asQString(error.message()), true);
    });
    connectRun();
    connectGate();
    connectTrace();
    connectExperiments();
}

Session::~Session()
{
    // Parts that are being torn down must not call back into a session that is half gone.
    for (QObject* part : std::initializer_list<QObject*>{&m->description, &m->gate, &m->run, &m->follower, &m->loader, &m->saver,
                                                         &m->analyser, &m->experiments, &m->undo})
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
        return tr("There is no knob %1.").arg(QString::fromUtf8(key.data(), static_cast<qsizetype>(key.size())));
    config::TrainingConfig changed = m->configuration;
    if (const auto set = changed.set(key, asString(text)); !set)
        return asQString(set.error().message());
    if (changed == m->configuration)
        return std::nullopt;
    if (descriptionKnown())
        if (auto problem = newProblem(m->configuration, changed, key, description().gpuAvailable))
            return problem;
    const auto apply = [this](const std::string& name, const std::string& value) {
        if (m->configuration.set(name, value))
            emit configurationChanged();
    };
    m->undo.push(new KnobCommand(std::string(key), m->configuration.text(key), changed.text(key), apply));
    return std::nullopt;
}

void Session::setConfiguration(const config::TrainingConfig& configuration, const QString& undoText)
{
    if (configuration == m->configuration)
        return;
    const auto apply = [this](const config::TrainingConfig& value) {
        m->configuration = value;
        emit configurationChanged();
    };
    m->undo.push(new ConfigurationCommand(m->configuration, configuration, apply, undoText));
}

void Session::loadConfiguration(const std::filesystem::path& path)
{
    const auto loaded = config::TrainingConfig::load(path);
    if (!loaded) {
        emit noticed(tr("The configuration cannot be used; the one there was is unchanged."),
                     asQString(loaded.error().message()), true);
        return;
    }
    setConfiguration(*loaded, tr("configuration from %1").arg(asQString(path.filename().string())));
}

bool Session::experimentRunning() const
{
    return m->experiments.isRunning();
}
const ExperimentController& Session::experiments() const
{
    return m->experiments;
}
const Journal& Session::journal() const
{
    return m->journal;
}

void Session::connectExperiments()
{
    connect(&m->experiments, &ExperimentController::progressed, this, &Session::experimentProgressed);
    connect(&m->experiments, &ExperimentController::finished, this, &Session::experimentFinished);
    connect(&m->experiments, &ExperimentController::failed, this, &Session::experimentFailed);
}

void Session::startExperiment(const advisor::RuleAdvice& advice)
{
    // A training beside it would share the processor with both arms, and the numbers would mean nothing.
    if (runState() != RunState::Idle || experimentRunning() || !advice.advice.toggle)
        return;
    passGate([this, advice] {
        if (runState() != RunState::Idle || experimentRunning())
            return;
        m->experiments.start(advice, m->configuration);
        emit experimentStarted(asQString(advice.id));
    });
}

void Session::cancelExperiment()
{
    m->experiments.cancel();
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
    return advisor::expectedDuration(ExperimentController::planFor(advice, m->configuration), us);
}

void Session::keepChange(const advisor::RuleAdvice& advice)
{
    const QString id = asQString(advice.id);
    const advisor::ExperimentResult* result = m->experiments.result(id);
    if (!result || result->plan.changes.empty() || m->journal.find(id))
        return;
    const KeptChange change{id, asQString(advice.advice.title), result->plan.changes.front(), *result};
    m->undo.push(new ActionCommand(
        tr("keep %1 = %2").arg(asQString(change.toggle.key), asQString(change.toggle.to)),
        [this, change] { changeJournal(change, true); }, [this, change] { changeJournal(change, false); }));
}

void Session::undoChange(const QString& ruleId)
{
    const KeptChange* kept = m->journal.find(ruleId);
    if (!kept) {
        m->experiments.forget(ruleId);
        emit journalChanged();
        return;
    }
    const KeptChange change = *kept;
    m->undo.push(new ActionCommand(
        tr("take back %1 = %2").arg(asQString(change.toggle.key), asQString(change.toggle.to)),
        [this, change] { changeJournal(change, false); }, [this, change] { changeJournal(change, true); }));
}

void Session::changeJournal(const KeptChange& change, bool add)
{
    auto& changes = m->journal.changes;
    if (add)
        changes.push_back(change);
    else
        std::erase_if(changes, [&](const KeptChange& kept) { return kept.ruleId == change.ruleId; });
    if (m->configuration.set(change.toggle.key, add ? change.toggle.to : change.toggle.from))
        emit configurationChanged();
    emit journalChanged();
}

} // namespace app
