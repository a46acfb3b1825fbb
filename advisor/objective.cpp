#include "advisor/objective.h"

#include "advisor/evidence/batch_facts.h"
#include "trainer/config/training_config.h"

#include <algorithm>

namespace advisor {

Objective objectiveOf(std::string_view key)
{
    const config::Knob* knob = config::findKnob(key);
    if (!knob)
        return Objective::Time;
    switch (knob->objective) {
    case config::Objective::Memory:
        return Objective::Memory;
    case config::Objective::LossAtEqualTime:
        return Objective::LossAtEqualTime;
    case config::Objective::StepTime:
    case config::Objective::EpochTime:
    case config::Objective::ValidationTime:
        return Objective::Time;
    }
    return Objective::Time;
}

Objective objectiveOf(const std::vector<Toggle>& changes)
{
    const auto is = [](Objective by) { return [by](const Toggle& change) { return objectiveOf(change.key) == by; }; };
    if (std::any_of(changes.begin(), changes.end(), is(Objective::LossAtEqualTime)))
        return Objective::LossAtEqualTime;
    // The update uses the same samples in other parts, which changes only how many are in memory at once.
    const bool sameBatch = keepTheBatch(changes);
    const auto forMemory = [&](const Toggle& change) {
        return objectiveOf(change.key) == Objective::Memory || (sameBatch && isBatchFactor(change.key));
    };
    return !changes.empty() && std::all_of(changes.begin(), changes.end(), forMemory) ? Objective::Memory
                                                                                      : Objective::Time;
}

std::string measureOf(const std::vector<Toggle>& changes)
{
    for (const Toggle& change : changes) {
        const config::Knob* knob = config::findKnob(change.key);
        if (knob && knob->objective == config::Objective::ValidationTime)
            return "validation";
        if (knob && knob->objective == config::Objective::EpochTime)
            return "epoch";
    }
    return "steps";
}

} // namespace advisor
