#include "advisor/tuner/candidates.h"

#include <algorithm>
#include <array>

namespace advisor {

namespace {

// Batch, its parts, precision and recomputing share the memory; a faster step wants more workers.
constexpr std::array<std::string_view, 6> kRelated = {"batch.size",     "gradient.accumulation",
                                                      "precision.amp",  "checkpointing",
                                                      "loader.workers", "loader.prefetch_factor"};

bool isRelated(std::string_view key)
{
    return std::find(kRelated.begin(), kRelated.end(), key) != kRelated.end();
}

/// The search of the trainer itself changes what a step is; batches are searched by trials.
bool canBeTried(const Toggle& change)
{
    return config::findKnob(change.key) && change.key != config::key::findMax.name;
}

} // namespace

std::vector<Candidate> advised(const std::vector<RuleAdvice>& advice, const config::TrainingConfig& now,
                               const Tried& tried)
{
    std::vector<Candidate> predicted, others;
    for (const RuleAdvice& row : advice) {
        const Advice& found = row.advice;
        if (found.state != State::Fires || !found.toggle || found.judgedBy == JudgedBy::Convergence ||
            !canBeTried(*found.toggle))
            continue;
        const Toggle change{found.toggle->key, now.text(found.toggle->key), found.toggle->to};
        if (change.from == change.to || tried.contains({change.key, change.to}))
            continue;
        (found.saving ? predicted : others)
            .push_back({change, row.id, found.title, found.saving, found.measure, found.judgedBy});
    }
    // An epoch or a validation lasts as long as many steps: what is timed in steps is known sooner.
    std::stable_sort(others.begin(), others.end(), [](const Candidate& a, const Candidate& b) {
        return (a.measure == "steps") > (b.measure == "steps");
    });
    predicted.insert(predicted.end(), others.begin(), others.end());
    return predicted;
}

std::vector<Candidate> further(const Toggle& kept, const config::TrainingConfig& now, int cores, const Tried& tried)
{
    std::vector<std::int64_t> values;
    if (kept.key == config::key::workers.name) {
        const std::int64_t workers = now[config::key::workers];
        for (const std::int64_t value : {workers + 1, workers * 2, workers - 1})
            if (value > 0 && value != workers && (cores == 0 || value <= cores) &&
                std::find(values.begin(), values.end(), value) == values.end())
                values.push_back(value);
    } else if (kept.key == config::key::batchSize.name) {
        values.push_back(now[config::key::batchSize] * 2);
    }
    std::vector<Candidate> candidates;
    for (const std::int64_t value : values)
        if (const std::string to = config::toText(value); !tried.contains({kept.key, to}))
            candidates.push_back({{kept.key, now.text(kept.key), to},
                                  {},
                                  "Further the way that paid",
                                  std::nullopt,
                                  "steps",
                                  JudgedBy::Time});
    return candidates;
}

void markKept(Tried& tried, const std::vector<Toggle>& changes)
{
    if (!changes.empty() && isRelated(changes.front().key))
        std::erase_if(tried,
                      [&](const auto& entry) { return entry.first != changes.front().key && isRelated(entry.first); });
    for (const Toggle& change : changes)
        tried.insert({change.key, change.from});
}

} // namespace advisor
