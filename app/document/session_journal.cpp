#include "advisor/change/program_patch.h"
#include "advisor/evidence/batch_facts.h"
#include "app/document/session.h"
#include "app/document/session_state.h"
#include "app/look/qstring.h"
#include "app/services/origin.h"

#include <algorithm>

// Measured changes: keeping and undoing them.
namespace app {

namespace {

/// "gradient.accumulation = 2, batch.size = 32"
QString valuesText(const std::vector<advisor::Toggle>& changes)
{
    QStringList values;
    for (const advisor::Toggle& change : changes)
        values << QString("%1 = %2").arg(asQString(change.key), asQString(change.to));
    return values.join(", ");
}

} // namespace

const Journal& Session::journal() const
{
    return m->journal;
}

const config::TrainingConfig* Session::trainingOnScreen() const
{
    if (m->title.isEmpty())
        return &m->configuration;
    return m->traceConfiguration ? &*m->traceConfiguration : nullptr;
}

Origin Session::programOnScreen() const
{
    if (m->title.isEmpty() || m->traceConfiguration || !advisor::change::describesProgram(*m->trace) ||
        !m->trace->metadata().contains("record.command"))
        return {};
    return originOf(*m->trace, m->path);
}

bool Session::isMachineOnScreen(const advisor::Machine& machine) const
{
    if (!m->title.isEmpty())
        return isMachineOf(machine, *m->trace);
    const std::string here = thisMachine().processor;
    return machine.processor.empty() || here.empty() || machine.processor == here;
}

/// Updates which results belong to the training on screen. True if the journal has different changes than before.
bool Session::refreshJournal()
{
    const config::TrainingConfig* onScreen = trainingOnScreen();
    const Origin program = programOnScreen();
    const auto isHere = [this](const advisor::Machine& machine) { return isMachineOnScreen(machine); };
    m->experiments.select([&](const ExperimentController::Measured& one) {
        if (!isHere(one.result.machine))
            return false;
        if (!one.program.id.isEmpty())
            return one.program == program;
        return onScreen && m->kept.isResultOf(*onScreen, one.result.plan.baseline, one.result.plan.changes);
    });
    Journal now = program.id.isEmpty() ? m->kept.inForce(m->configuration).measuredWith(onScreen, m->kept)
                                       : m->kept.ofProgram(program);
    now = now.measuredOn(isHere);
    const bool same =
        std::equal(now.changes.begin(), now.changes.end(), m->journal.changes.begin(), m->journal.changes.end(),
                   [](const KeptChange& a, const KeptChange& b) { return a.ruleId == b.ruleId; }) &&
        now.predictions.size() == m->journal.predictions.size();
    m->journal = std::move(now);
    return !same;
}

/// A different trace is on screen, or there is a new result.
void Session::settleResults()
{
    if (refreshJournal())
        emit journalChanged();
}

std::vector<Session::OtherResult> Session::otherResults() const
{
    std::vector<OtherResult> found;
    const config::TrainingConfig* onScreen = trainingOnScreen();
    const Origin program = programOnScreen();
    for (const KeptChange& kept : m->kept.changes) {
        const bool isOfTraining =
            kept.isOfProgram()
                ? kept.program == program
                : onScreen && m->kept.isResultOf(*onScreen, kept.result.plan.baseline, kept.result.plan.changes);
        if (!isOfTraining || !isMachineOnScreen(kept.result.machine))
            found.push_back({kept.title, kept.isOfProgram() ? kept.program : originOf(kept.result.plan.baseline),
                             kept.result, true});
    }
    const std::size_t keptCount = found.size();
    for (const auto& measured : m->experiments.otherResults()) {
        const auto isKept = [&](const OtherResult& kept) {
            return kept.result.pairs.size() == measured.result.pairs.size() &&
                   kept.result.plan.baseline == measured.result.plan.baseline &&
                   kept.result.secondsSpent == measured.result.secondsSpent;
        };
        if (std::none_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(keptCount), isKept))
            found.push_back({measured.title,
                             measured.program.id.isEmpty() ? originOf(measured.result.plan.baseline) : measured.program,
                             measured.result, false});
    }
    return found;
}

bool Session::State::addPredictions(std::span<const advisor::ExperimentResult> measured, const Origin& program)
{
    constexpr std::size_t kMost = 500; // keeps the file small
    const std::size_t before = kept.predictions.size();
    for (const advisor::ExperimentResult& result : measured)
        if (auto prediction = measuredPrediction(result, program))
            kept.predictions.push_back(std::move(*prediction));
    if (kept.predictions.size() == before)
        return false;
    if (kept.predictions.size() > kMost)
        kept.predictions.erase(kept.predictions.begin(), kept.predictions.end() - kMost);
    if (lock)
        keepSoon.start();
    return true;
}

void Session::keepChange(const advisor::RuleAdvice& advice)
{
    const QString id = asQString(advice.id);
    const ExperimentController::Measured* measured = m->experiments.newest(id);
    const advisor::ExperimentResult* result = measured ? &measured->result : nullptr;
    if (!result || result->plan.changes.empty() || m->journal.keptOf(id, result->plan.changes.front()))
        return;
    emit noticeOutdated();
    if (!isMachineOnScreen(result->machine)) {
        emit noticed(tr("Change not kept: it was measured on another machine."),
                     tr("It was measured on %1, but the trace on screen was recorded on another machine. Record a "
                        "trace on this machine, then measure the change.")
                         .arg(machineText(result->machine)),
                     true);
        return;
    }
    if (!measured->program.id.isEmpty()) {
        SessionChange change;
        change.place = m->kept.changes.size();
        change.text = tr("keep %1").arg(valuesText(result->plan.changes));
        change.kept = {{m->kept.freeName(id), asQString(advice.advice.title), result->plan.changes.front(), *result,
                        measured->program}};
        push(std::move(change));
        return;
    }
    if (!m->kept.isResultOf(m->configuration, result->plan.baseline, result->plan.changes)) {
        emit noticed(tr("Change not kept: it was measured with other settings."),
                     tr("It was measured with %1, but %2 is set now. Measure it again.")
                         .arg(originOf(result->plan.baseline).name, originOf(m->configuration).name),
                     true);
        return;
    }
    KeptChange kept{m->kept.freeName(id), asQString(advice.advice.title), {}, *result};
    // The companion settings of the toggle are computed from the current configuration, not from the measured one.
    kept.result.plan.changes = advisor::changesOf(result->plan.changes.front(), m->configuration);
    SessionChange change;
    change.place = m->kept.changes.size();
    change.text = tr("keep %1").arg(valuesText(kept.result.plan.changes));
    for (const advisor::Toggle& changed : kept.result.plan.changes)
        change.knobs.push_back({changed.key, changed.from, changed.to});
    // A setting that the user has changed since then is reset to the value of the measured baseline.
    kept.toggle = kept.result.plan.changes.front();
    if (kept.toggle.from == kept.toggle.to)
        kept.toggle.from = kept.result.plan.changes.front().from = result->plan.changes.front().from;
    change.kept = {std::move(kept)};
    push(std::move(change));
}

void Session::undoChange(const QString& ruleId)
{
    const KeptChange* kept = m->kept.find(ruleId);
    // A change with the same name that was kept for another program, for a configuration or on another machine stays.
    if (kept && (!(kept->program == programOnScreen()) || !isMachineOnScreen(kept->result.machine)))
        kept = nullptr;
    if (!kept) {
        m->experiments.forget(ruleId);
        emit journalChanged();
        return;
    }
    SessionChange change;
    change.kept = {*kept};
    change.leaves = true;
    change.place = static_cast<std::size_t>(kept - m->kept.changes.data());
    if (kept->isOfProgram()) {
        change.text = tr("undo %1").arg(valuesText(kept->result.plan.changes));
        push(std::move(change));
        return;
    }
    std::vector<advisor::Toggle> back = {kept->toggle};
    // Companion settings that the user has changed since then stay.
    for (const advisor::Toggle& with : kept->result.plan.changes)
        if (with.key != kept->toggle.key && m->configuration.text(with.key) == with.to)
            back.push_back(with);
    change.text = tr("undo %1").arg(valuesText(back));
    for (const advisor::Toggle& one : back)
        change.knobs.push_back({one.key, m->configuration.text(one.key), one.from});
    push(std::move(change));
}

} // namespace app
