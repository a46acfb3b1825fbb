#include "advisor/judged_by.h"

#include "advisor/evidence/batch_facts.h"
#include "trainer/config/training_config.h"

#include <algorithm>

namespace advisor {

JudgedBy judgedBy(std::string_view key)
{
    const config::Knob* knob = config::findKnob(key);
    if (!knob)
        return JudgedBy::Time;
    switch (knob->objective) {
    case config::Objective::Memory:
        return JudgedBy::Memory;
    case config::Objective::LossAtEqualTime:
        return JudgedBy::LossAtEqualTime;
    case config::Objective::StepTime:
    case config::Objective::EpochTime:
    case config::Objective::ValidationTime:
        return JudgedBy::Time;
    }
    return JudgedBy::Time;
}

JudgedBy judgedBy(const std::vector<Toggle>& changes)
{
    const auto is = [](JudgedBy by) { return [by](const Toggle& change) { return judgedBy(change.key) == by; }; };
    if (std::any_of(changes.begin(), changes.end(), is(JudgedBy::LossAtEqualTime)))
        return JudgedBy::LossAtEqualTime;
    // The update uses the same samples in other parts, which changes only how many are in memory at once.
    const bool sameBatch = keepTheBatch(changes);
    const auto forMemory = [&](const Toggle& change) {
        return judgedBy(change.key) == JudgedBy::Memory || (sameBatch && isBatchFactor(change.key));
    };
    return !changes.empty() && std::all_of(changes.begin(), changes.end(), forMemory) ? JudgedBy::Memory
                                                                                      : JudgedBy::Time;
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
