#include "app/services/journal.h"

#include "advisor/experiment/held_prediction.h"
#include "app/services/origin.h"

#include <algorithm>
#include <map>

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

} // namespace app
