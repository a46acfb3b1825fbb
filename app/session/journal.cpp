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

const KeptChange* Journal::find(const QString& ruleId) const
{
    const auto found =
        std::find_if(changes.begin(), changes.end(), [&](const KeptChange& c) { return c.ruleId == ruleId; });
    return found == changes.end() ? nullptr : &*found;
}

} // namespace app
