#include "app/session/journal.h"

#include <algorithm>

namespace app {

double Journal::factorAfter(std::size_t count) const
{
    double factor = 1;
    for (std::size_t i = 0; i < std::min(count, changes.size()); ++i)
        if (changes[i].result.plan.measure == "steps" && changes[i].result.samplesPerSecond.value > 0)
            factor *= changes[i].result.samplesPerSecond.value;
    return factor;
}

Journal::Predictions Journal::predictions() const
{
    Predictions predictions;
    for (const KeptChange& change : changes) {
        const auto& predicted = change.result.plan.predicted;
        const bool memory = change.result.plan.judgedBy == advisor::JudgedBy::Memory;
        if (!predicted || (predicted->unit == advisor::SavingUnit::Bytes) != memory)
            continue;
        const double measured = memory ? change.result.savedBytes.value : change.result.savedUs.value;
        ++predictions.made;
        predictions.held += measured >= predicted->low && measured <= predicted->high ? 1 : 0;
    }
    return predictions;
}

const KeptChange* Journal::find(const QString& ruleId) const
{
    const auto found =
        std::find_if(changes.begin(), changes.end(), [&](const KeptChange& c) { return c.ruleId == ruleId; });
    return found == changes.end() ? nullptr : &*found;
}

} // namespace app
