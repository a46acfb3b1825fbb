#include "advisor/evidence/batch_facts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace advisor {

namespace key = config::key;

namespace {

// Smaller parts would leave the processor too little parallel work, so the batch is not split further.
constexpr std::int64_t kMostParts = 8;

} // namespace

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
