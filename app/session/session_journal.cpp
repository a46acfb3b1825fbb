#include "advisor/batch_facts.h"
#include "app/session/session.h"
#include "app/session/session_state.h"

#include <algorithm>

// Measured changes: kept and taken back.
namespace app {

namespace {

QString asQString(const std::string& text)
{
    return QString::fromStdString(text);
}

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

/// True when other changes are in the configuration than before.
bool Session::refreshJournal()
{
    Journal now = m->kept.inForce(m->configuration);
    const bool same =
        std::equal(now.changes.begin(), now.changes.end(), m->journal.changes.begin(), m->journal.changes.end(),
                   [](const KeptChange& a, const KeptChange& b) { return a.ruleId == b.ruleId; });
    m->journal = std::move(now);
    return !same;
}

bool Session::State::countPredictions(std::span<const advisor::ExperimentResult> measured)
{
    const int before = kept.predictions.made;
    for (const advisor::ExperimentResult& result : measured)
        kept.predictions.count(result);
    if (kept.predictions.made == before)
        return false;
    journal.predictions = kept.predictions;
    if (lock)
        keepSoon.start();
    return true;
}

void Session::keepChange(const advisor::RuleAdvice& advice)
{
    const QString id = asQString(advice.id);
    const advisor::ExperimentResult* result = m->experiments.result(id);
    if (!result || result->plan.changes.empty() || m->journal.keptOf(id, result->plan.changes.front()))
        return;
    emit tookUp();
    if (workloadOf(result->plan.baseline) != workloadOf(m->configuration)) {
        emit noticed(tr("The change was not kept: it was measured with another model."),
                     tr("Measure it with the one that is set."), true);
        return;
    }
    KeptChange kept{m->kept.freeName(id), asQString(advice.advice.title), {}, *result};
    // What comes with the toggle follows from the configuration as it is now, not as it was when it was measured.
    kept.result.plan.changes = advisor::changesOf(result->plan.changes.front(), m->configuration);
    SessionChange change;
    change.place = m->kept.changes.size();
    change.text = tr("keep %1").arg(valuesText(kept.result.plan.changes));
    for (const advisor::Toggle& changed : kept.result.plan.changes)
        change.knobs.push_back({changed.key, changed.from, changed.to});
    // One that was set by hand meanwhile is taken back to what it was measured against.
    kept.toggle = kept.result.plan.changes.front();
    if (kept.toggle.from == kept.toggle.to)
        kept.toggle.from = kept.result.plan.changes.front().from = result->plan.changes.front().from;
    change.kept = {std::move(kept)};
    push(std::move(change));
}

void Session::undoChange(const QString& ruleId)
{
    const KeptChange* kept = m->kept.find(ruleId);
    if (!kept) {
        m->experiments.forget(ruleId);
        emit journalChanged();
        return;
    }
    SessionChange change;
    change.kept = {*kept};
    change.leaves = true;
    change.place = static_cast<std::size_t>(kept - m->kept.changes.data());
    std::vector<advisor::Toggle> back = {kept->toggle};
    // What came with it and was changed since is the user's.
    for (const advisor::Toggle& with : kept->result.plan.changes)
        if (with.key != kept->toggle.key && m->configuration.text(with.key) == with.to)
            back.push_back(with);
    change.text = tr("take back %1").arg(valuesText(back));
    for (const advisor::Toggle& one : back)
        change.knobs.push_back({one.key, m->configuration.text(one.key), one.from});
    push(std::move(change));
}

} // namespace app
