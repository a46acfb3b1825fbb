#include "advisor/knob_changes.h"

#include "trainer/config/training_config.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace advisor {

namespace {

namespace key = config::key;

// Smaller parts would leave the processor too little parallel work, so the batch is not split further.
constexpr std::int64_t kMostParts = 8;

} // namespace

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

double samplesOfAStep(const config::TrainingConfig& config)
{
    // DataParallel splits a batch; DDP trains on one batch per copy.
    const double copies = config[key::parallel] == "ddp" ? static_cast<double>(config[key::localRanks]) : 1;
    return copies * static_cast<double>(config[key::batchSize] * config[key::accumulation]);
}

double timesTheReferenceBatch(const config::TrainingConfig& config)
{
    return samplesOfAStep(config) / static_cast<double>(config[key::lrBaseBatch]);
}

std::optional<Toggle> partsOfTheBatch(const config::TrainingConfig& config)
{
    const std::int64_t batch = config[key::batchSize], parts = config[key::accumulation];
    for (std::int64_t times = 2; times <= std::min(batch, kMostParts); ++times)
        if (batch % times == 0)
            return Toggle{std::string(key::accumulation.name), config::toText(parts), config::toText(parts * times)};
    return std::nullopt;
}

std::vector<Toggle> changesOf(const Toggle& toggle, const config::TrainingConfig& now)
{
    std::vector<Toggle> changes = {{toggle.key, now.text(toggle.key), toggle.to}};
    config::TrainingConfig changed = now;
    if (toggle.key != key::accumulation.name || !changed.set(toggle.key, toggle.to))
        return changes;
    const std::int64_t samples = now[key::batchSize] * now[key::accumulation], parts = changed[key::accumulation];
    if (samples % parts == 0 && samples / parts != now[key::batchSize])
        changes.push_back(
            {std::string(key::batchSize.name), now.text(key::batchSize.name), config::toText(samples / parts)});
    return changes;
}

bool isBatchFactor(std::string_view key)
{
    const config::Knob* knob = config::findKnob(key);
    return knob && knob->isBatchFactor;
}

bool keepTheBatch(const std::vector<Toggle>& changes)
{
    double times = 1;
    for (const Toggle& change : changes)
        if (isBatchFactor(change.key))
            times *= std::strtod(change.to.c_str(), nullptr) / std::strtod(change.from.c_str(), nullptr);
    return std::abs(times - 1) < 1e-9;
}

} // namespace advisor
