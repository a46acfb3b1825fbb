#include "app/services/journal.h"

#include "advisor/experiment/result_text.h"
#include "advisor/knob_changes.h"
#include "app/configuration/configuration_model.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/services/notices.h"
#include "app/services/origin.h"

#include <algorithm>
#include <map>
#include <utility>

namespace app {

double Journal::factorAfter(std::size_t count) const
{
    double factor = 1;
    for (std::size_t i = 0; i < std::min(count, changes.size()); ++i)
        if (changes[i].result.plan.measure == "steps" && changes[i].result.samplesPerSecond.value > 0)
            factor *= changes[i].result.samplesPerSecond.value;
    return factor;
}

std::optional<MeasuredPrediction> measuredPrediction(const advisor::ExperimentResult& result, const Origin& program)
{
    const auto held = advisor::predictionHeld(result);
    if (!held)
        return std::nullopt;
    return MeasuredPrediction{result.plan.baseline, result.plan.changes, *held, program.id, result.machine};
}

Predictions Journal::score() const
{
    const auto held = std::count_if(predictions.begin(), predictions.end(), [](const auto& one) { return one.held; });
    return {static_cast<int>(held), static_cast<int>(predictions.size())};
}

const KeptChange* Journal::find(const QString& ruleId) const
{
    const auto found =
        std::find_if(changes.begin(), changes.end(), [&](const KeptChange& c) { return c.ruleId == ruleId; });
    return found == changes.end() ? nullptr : &*found;
}

const KeptChange* Journal::newestOf(const QString& rule) const
{
    const auto found = std::find_if(changes.rbegin(), changes.rend(), [&](const KeptChange& c) {
        return c.ruleId == rule || c.ruleId.startsWith(rule + " #");
    });
    return found == changes.rend() ? nullptr : &*found;
}

const KeptChange* Journal::keptOf(const QString& rule, const advisor::Toggle& toggle) const
{
    const KeptChange* kept = newestOf(rule);
    return kept && kept->toggle.key == toggle.key && kept->toggle.to == toggle.to ? kept : nullptr;
}

Journal Journal::inForce(const config::TrainingConfig& configuration) const
{
    Journal found;
    found.predictions = predictions;
    std::map<std::string, std::string> wanted; // by key: the value that the previous change must have set
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
        const auto& [key, from, to] = change->toggle;
        if (change->isOfProgram())
            continue;
        const std::string value = wanted.contains(key) ? wanted[key] : configuration.text(key);
        if (to != value || workloadOf(change->result.plan.baseline) != workloadOf(configuration))
            continue;
        wanted[key] = from;
        found.changes.insert(found.changes.begin(), *change);
    }
    return found;
}

bool Journal::isResultOf(const config::TrainingConfig& shown, const config::TrainingConfig& baseline,
                         const std::vector<advisor::Toggle>& measured) const
{
    std::vector<advisor::Toggle> all = measured;
    for (const KeptChange& change : changes) {
        if (change.isOfProgram() || workloadOf(change.result.plan.baseline) != workloadOf(baseline))
            continue;
        all.push_back(change.toggle);
        all.insert(all.end(), change.result.plan.changes.begin(), change.result.plan.changes.end());
    }
    return belongsTo(shown, baseline, all);
}

Journal Journal::measuredWith(const config::TrainingConfig* shown, const Journal& all) const
{
    Journal found;
    const auto isHere = [&](const config::TrainingConfig& baseline, const std::vector<advisor::Toggle>& measured) {
        return shown && all.isResultOf(*shown, baseline, measured);
    };
    for (const KeptChange& change : changes)
        if (!change.isOfProgram() && isHere(change.result.plan.baseline, change.result.plan.changes))
            found.changes.push_back(change);
    for (const MeasuredPrediction& prediction : predictions)
        if (prediction.program.isEmpty() && isHere(prediction.baseline, prediction.changes))
            found.predictions.push_back(prediction);
    return found;
}

Journal Journal::ofProgram(const Origin& program) const
{
    Journal found;
    for (const KeptChange& change : changes)
        if (change.isOfProgram() && change.program == program)
            found.changes.push_back(change);
    for (const MeasuredPrediction& prediction : predictions)
        if (!program.id.isEmpty() && prediction.program == program.id)
            found.predictions.push_back(prediction);
    return found;
}

Journal Journal::measuredOn(const std::function<bool(const advisor::Machine&)>& isOnScreen) const
{
    Journal found;
    for (const KeptChange& change : changes)
        if (isOnScreen(change.result.machine))
            found.changes.push_back(change);
    for (const MeasuredPrediction& prediction : predictions)
        if (isOnScreen(prediction.machine))
            found.predictions.push_back(prediction);
    return found;
}

QString Journal::freeName(const QString& rule, const std::vector<KeptChange>& beside) const
{
    const auto isTaken = [&](const QString& name) {
        return find(name) ||
               std::any_of(beside.begin(), beside.end(), [&](const KeptChange& kept) { return kept.ruleId == name; });
    };
    QString name = rule;
    for (int number = 2; isTaken(name); ++number)
        name = QString("%1 #%2").arg(rule).arg(number);
    return name;
}

std::string workloadOf(const config::TrainingConfig& configuration)
{
    return configuration.text(config::key::workload.name);
}

namespace {

/// "gradient.accumulation = 2, batch.size = 32"
QString valuesText(const std::vector<advisor::Toggle>& changes)
{
    QStringList values;
    for (const advisor::Toggle& change : changes)
        values << QString("%1 = %2").arg(asQString(change.key), asQString(change.to));
    return values.join(", ");
}

bool holds(const std::vector<KeptChange>& changes, const QString& ruleId)
{
    return std::any_of(changes.begin(), changes.end(),
                       [&](const KeptChange& change) { return change.ruleId == ruleId; });
}

} // namespace

JournalStore::JournalStore(Notices* notices, ConfigurationModel* configuration, TraceDocument* document)
    : m_notices(notices), m_configuration(configuration), m_document(document)
{
    connect(configuration, &ConfigurationModel::stepApplied, this, &JournalStore::apply);
    connect(document, &TraceDocument::traceReplaced, this, [this] {
        refresh();
        emit changed();
    });
    // The complete file contains the configuration; its preview may not.
    connect(document, &TraceDocument::traceOpened, this, [this] {
        if (refresh())
            emit changed();
    });
}

const config::TrainingConfig* JournalStore::training() const
{
    if (m_document->title().isEmpty())
        return &m_configuration->get();
    const auto& ofTrace = m_document->configuration();
    return ofTrace ? &*ofTrace : nullptr;
}

void JournalStore::restore(Journal kept)
{
    m_kept = std::move(kept);
    refresh();
    emit changed();
}

void JournalStore::apply(const UndoStep& step, bool forth)
{
    auto& changes = m_kept.changes;
    if (step.leaves != forth)
        changes.insert(changes.begin() + static_cast<std::ptrdiff_t>(std::min(step.place, changes.size())),
                       step.kept.begin(), step.kept.end());
    else
        std::erase_if(changes, [&](const KeptChange& kept) { return holds(step.kept, kept.ruleId); });
    if (refresh() || !step.kept.empty())
        emit changed();
}

/// Updates which results belong to the training of the document. True if its journal has different changes than before.
bool JournalStore::refresh()
{
    const config::TrainingConfig* shown = training();
    const Origin program = m_document->program();
    const auto isHere = [this](const advisor::Machine& machine) { return m_document->isMachine(machine); };
    for (Measured& one : m_measured)
        one.isShown = isHere(one.result.machine) &&
                      (one.program.id.isEmpty()
                           ? shown && m_kept.isResultOf(*shown, one.result.plan.baseline, one.result.plan.changes)
                           : one.program == program);
    Journal now = program.id.isEmpty() ? m_kept.inForce(m_configuration->get()).measuredWith(shown, m_kept)
                                       : m_kept.ofProgram(program);
    now = now.measuredOn(isHere);
    const bool same = std::equal(now.changes.begin(), now.changes.end(), m_shown.changes.begin(), m_shown.changes.end(),
                                 [](const KeptChange& a, const KeptChange& b) { return a.ruleId == b.ruleId; }) &&
                      now.predictions.size() == m_shown.predictions.size();
    m_shown = std::move(now);
    return !same;
}

const JournalStore::Measured* JournalStore::measured(const QString& ruleId) const
{
    const auto found = std::find_if(m_measured.rbegin(), m_measured.rend(),
                                    [&](const Measured& one) { return one.rule == ruleId && one.isShown; });
    return found == m_measured.rend() ? nullptr : &*found;
}

const advisor::ExperimentResult* JournalStore::result(const QString& ruleId) const
{
    const Measured* found = measured(ruleId);
    return found ? &found->result : nullptr;
}

/// The newest result of a rule, for any training; null: none.
const JournalStore::Measured* JournalStore::newest(const QString& ruleId) const
{
    const auto found =
        std::find_if(m_measured.rbegin(), m_measured.rend(), [&](const Measured& one) { return one.rule == ruleId; });
    return found == m_measured.rend() ? nullptr : &*found;
}

std::vector<advisor::ExperimentResult> JournalStore::resultsNotKept() const
{
    std::map<QString, const advisor::ExperimentResult*> newest; // by rule
    for (const Measured& one : m_measured)
        if (one.isShown)
            newest[one.rule] = &one.result;
    std::vector<advisor::ExperimentResult> found;
    for (const auto& [rule, result] : newest)
        if (result->plan.changes.empty() || !m_shown.keptOf(rule, result->plan.changes.front()))
            found.push_back(*result);
    return found;
}

std::vector<JournalStore::OtherResult> JournalStore::otherResults() const
{
    std::vector<OtherResult> found;
    const config::TrainingConfig* shown = training();
    const Origin program = m_document->program();
    for (const KeptChange& kept : m_kept.changes) {
        const bool isOfTraining = kept.isOfProgram() ? kept.program == program
                                                     : shown && m_kept.isResultOf(*shown, kept.result.plan.baseline,
                                                                                  kept.result.plan.changes);
        if (!isOfTraining || !m_document->isMachine(kept.result.machine))
            found.push_back({kept.title, kept.isOfProgram() ? kept.program : originOf(kept.result.plan.baseline),
                             kept.result, true});
    }
    const std::vector<OtherResult> keptOnes = found;
    for (const Measured& measured : m_measured) {
        const auto isKept = [&](const OtherResult& kept) {
            return kept.result.pairs.size() == measured.result.pairs.size() &&
                   kept.result.plan.baseline == measured.result.plan.baseline &&
                   kept.result.secondsSpent == measured.result.secondsSpent;
        };
        if (!measured.isShown && std::none_of(keptOnes.begin(), keptOnes.end(), isKept))
            found.push_back({measured.title,
                             measured.program.id.isEmpty() ? originOf(measured.result.plan.baseline) : measured.program,
                             measured.result, false});
    }
    return found;
}

void JournalStore::add(const Measured& measured)
{
    m_measured.push_back(measured);
    addPredictions({&measured.result, 1}, measured.program);
    refresh();
    emit changed();
}

void JournalStore::forget(const QString& ruleId)
{
    std::erase_if(m_measured, [&](const Measured& one) { return one.rule == ruleId && one.isShown; });
}

void JournalStore::addPredictions(std::span<const advisor::ExperimentResult> measured, const Origin& program)
{
    constexpr std::size_t kMost = 500; // keeps the file small
    const std::size_t before = m_kept.predictions.size();
    for (const advisor::ExperimentResult& result : measured)
        if (auto prediction = measuredPrediction(result, program))
            m_kept.predictions.push_back(std::move(*prediction));
    if (m_kept.predictions.size() == before)
        return;
    if (m_kept.predictions.size() > kMost)
        m_kept.predictions.erase(m_kept.predictions.begin(), m_kept.predictions.end() - kMost);
    emit predictionsAdded();
    if (refresh())
        emit changed();
}

void JournalStore::keep(const advisor::RuleAdvice& advice)
{
    const QString id = asQString(advice.id);
    const Measured* measured = newest(id);
    const advisor::ExperimentResult* result = measured ? &measured->result : nullptr;
    if (!result || result->plan.changes.empty() || m_shown.keptOf(id, result->plan.changes.front()))
        return;
    emit m_notices->outdated();
    if (!m_document->isMachine(result->machine)) {
        emit m_notices->noticed(
            tr("Change not kept: it was measured on another machine."),
            tr("It was measured on %1, but the trace on screen was recorded on another machine. Record a "
               "trace on this machine, then measure the change.")
                .arg(machineText(result->machine)),
            true);
        return;
    }
    if (!measured->program.id.isEmpty()) {
        UndoStep step;
        step.place = m_kept.changes.size();
        step.text = tr("keep %1").arg(valuesText(result->plan.changes));
        step.kept = {{m_kept.freeName(id), asQString(advice.advice.title), result->plan.changes.front(), *result,
                      measured->program}};
        m_configuration->push(std::move(step));
        return;
    }
    if (!m_kept.isResultOf(m_configuration->get(), result->plan.baseline, result->plan.changes)) {
        emit m_notices->noticed(tr("Change not kept: it was measured with other settings."),
                                tr("It was measured with %1, but %2 is set now. Measure it again.")
                                    .arg(originOf(result->plan.baseline).name, originOf(m_configuration->get()).name),
                                true);
        return;
    }
    KeptChange kept{m_kept.freeName(id), asQString(advice.advice.title), {}, *result};
    // The companion settings of the toggle are computed from the current configuration, not from the measured one.
    kept.result.plan.changes = advisor::changesOf(result->plan.changes.front(), m_configuration->get());
    UndoStep step;
    step.place = m_kept.changes.size();
    step.text = tr("keep %1").arg(valuesText(kept.result.plan.changes));
    for (const advisor::Toggle& changed : kept.result.plan.changes)
        step.knobs.push_back({changed.key, changed.from, changed.to});
    // A setting that the user has changed since then is reset to the value of the measured baseline.
    kept.toggle = kept.result.plan.changes.front();
    if (kept.toggle.from == kept.toggle.to)
        kept.toggle.from = kept.result.plan.changes.front().from = result->plan.changes.front().from;
    step.kept = {std::move(kept)};
    m_configuration->push(std::move(step));
}

void JournalStore::undo(const QString& ruleId)
{
    const KeptChange* kept = m_kept.find(ruleId);
    // A change with the same name that was kept for another program, for a configuration or on another machine stays.
    if (kept && (!(kept->program == m_document->program()) || !m_document->isMachine(kept->result.machine)))
        kept = nullptr;
    if (!kept) {
        forget(ruleId);
        emit changed();
        return;
    }
    UndoStep step;
    step.kept = {*kept};
    step.leaves = true;
    step.place = static_cast<std::size_t>(kept - m_kept.changes.data());
    if (kept->isOfProgram()) {
        step.text = tr("undo %1").arg(valuesText(kept->result.plan.changes));
        m_configuration->push(std::move(step));
        return;
    }
    std::vector<advisor::Toggle> back = {kept->toggle};
    // Companion settings that the user has changed since then stay.
    for (const advisor::Toggle& with : kept->result.plan.changes)
        if (with.key != kept->toggle.key && m_configuration->get().text(with.key) == with.to)
            back.push_back(with);
    step.text = tr("undo %1").arg(valuesText(back));
    for (const advisor::Toggle& one : back)
        step.knobs.push_back({one.key, m_configuration->get().text(one.key), one.from});
    m_configuration->push(std::move(step));
}

} // namespace app
