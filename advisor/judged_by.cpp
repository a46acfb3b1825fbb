#include "advisor/judged_by.h"

#include "advisor/batch_facts.h"
#include "trainer/config/keys.h"
#include "trainer/config/training_config.h"

#include <algorithm>

namespace advisor {

namespace key = config::key;

namespace {

constexpr std::string_view kMemory[] = {key::checkpointing.name, key::accumulation.name};
constexpr std::string_view kLearning[] = {key::normalize.name, key::modelNorm.name, key::clipNorm.name,
                                          key::clipValue.name, key::augment.name,   key::noise.name};

template <std::size_t Count>
bool contains(const std::string_view (&keys)[Count], std::string_view key)
{
    return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

} // namespace

JudgedBy judgedBy(std::string_view key)
{
    if (contains(kMemory, key))
        return JudgedBy::Memory;
    // How an optimizer is implemented changes how fast it is, not what it does.
    const bool updates = key.starts_with("optimizer.") && key != key::implementation.name;
    return updates || key.starts_with("schedule.") || contains(kLearning, key) ? JudgedBy::Convergence : JudgedBy::Time;
}

JudgedBy judgedBy(const std::vector<Toggle>& changes)
{
    const auto is = [](JudgedBy by) { return [by](const Toggle& change) { return judgedBy(change.key) == by; }; };
    if (std::any_of(changes.begin(), changes.end(), is(JudgedBy::Convergence)))
        return JudgedBy::Convergence;
    // The same samples to an update, in other parts: what changes is how many are in memory at once.
    const bool sameBatch = keepTheBatch(changes);
    const auto forMemory = [&](const Toggle& change) {
        return judgedBy(change.key) == JudgedBy::Memory || (sameBatch && change.key == key::batchSize.name);
    };
    return !changes.empty() && std::all_of(changes.begin(), changes.end(), forMemory) ? JudgedBy::Memory
                                                                                      : JudgedBy::Time;
}

std::string measureOf(const std::vector<Toggle>& changes)
{
    for (const Toggle& change : changes) {
        const config::Knob* knob = config::findKnob(change.key);
        const std::string_view where = knob ? knob->where : std::string_view();
        if (where == "validation")
            return "validation";
        if (where == "start of an epoch" || where == "first step of an epoch")
            return "epoch";
    }
    return "steps";
}

} // namespace advisor
