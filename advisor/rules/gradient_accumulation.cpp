#include "advisor/evidence/batch_facts.h"
#include "advisor/evidence/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/prediction/memory_saving.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "gradient.accumulation";

/// Why this advice cannot split the configured batch itself; empty if it can.
Message whyNotDivided(const config::TrainingConfig& config, const std::optional<Toggle>& parts)
{
    if (config[config::key::compile])
        return message<"gradient.accumulation.compiled",
                       "A compiled step contains one pass: gradient.accumulation needs compile=false.">();
    if (!parts)
        return message<"gradient.accumulation.indivisible",
                       "A batch of {batch} samples cannot be split into 2 to 8 equal "
                       "parts: choose an even batch.size first.">({{"batch", config[config::key::batchSize]}});
    return {};
}

// Exposed transfers of gradients, as a share of the step, from which on accumulation saves a notable part of them.
constexpr double kExposedTransfers = 0.1;

/// Accumulation also exchanges gradients less often: a finding for a job whose transfers are exposed. Waiting for late
/// ranks does not count, because it would remain. Empty if there is little to save.
std::optional<Advice> savesExchanges(const RuleContext& c)
{
    const profiler::analysis::JobAnalysis& job = c.ranks->analysis;
    double exposedUs = 0;
    for (const profiler::analysis::GroupUse& use : job.groups)
        if (use.role == profiler::analysis::GroupRole::Data)
            exposedUs += std::min(use.exposedUs, use.transferUs);
    const double share = job.stepUs > 0 ? exposedUs / job.stepUs : 0;
    if (share < kExposedTransfers)
        return std::nullopt;
    Advice advice =
        fires(message<"gradient.accumulation.exchanges",
                      "Exposed transfers of gradients take up to {share} of each step. With accumulation, "
                      "ranks exchange gradients once for several passes.">({{"share", share, shareText(share)}}));
    advice.timeShare = share / 2;
    advice.whyNoPrediction =
        message<"gradient.accumulation.exchange_bound", "With two passes per update, at most {time} per pass.">(
            {{"time", exposedUs / 2, timeText(exposedUs / 2)}});
    advice.caveats = {message<"gradient.accumulation.no_sync",
                              "With DistributedDataParallel, wrap all passes but the last in no_sync(); otherwise each "
                              "pass exchanges gradients.">(),
                      message<"gradient.accumulation.larger_batch",
                              "An update sees more samples: adjust the learning rate, or use smaller batches.">()};
    setToggle(advice, c, kKey, "2");
    return advice;
}

Advice check(const RuleContext& c)
{
    if (c.ranks)
        if (auto advice = savesExchanges(c))
            return *std::move(advice);
    const auto use = memoryUse(c);
    if (auto none = withoutFullMemory(c, use))
        return *none;
    if (auto none = withoutBackward(c))
        return *none;
    const auto parts = c.config ? partsOfTheBatch(*c.config) : std::nullopt;
    if (c.config && (*c.config)[config::key::batchSize] == 1)
        return silent(
            message<"gradient.accumulation.one_sample", "Each pass processes one sample: it cannot be split.">());
    Advice advice = firesOnMemory(
        c, *use,
        message<"gradient.accumulation.full", "Memory was {share} full: splitting the same batch into smaller parts, "
                                              "with accumulated gradients, needs less memory.">(
            {{"share", use->share(), shareText(use->share())}}));
    const double times =
        parts ? std::strtod(parts->to.c_str(), nullptr) / std::strtod(parts->from.c_str(), nullptr) : 2;
    if ((advice.saving = savedByParts(c, times)))
        advice.whyNoPrediction = {};
    advice.caveats = {
        message<"gradient.accumulation.overhead", "Each part of the batch pays the per-step overhead.">(),
        message<"gradient.accumulation.loss_scale",
                "Divide the loss by the number of parts; divide the last, partial group by its actual size.">()};
    if (c.config)
        advice.whyNoToggle = whyNotDivided(*c.config, parts);
    if (!advice.whyNoToggle.empty())
        return advice;
    setToggle(advice, c, kKey, parts ? parts->to : "2");
    if (parts)
        for (const Toggle& change : changesOf(*parts, *c.config))
            if (change.key != kKey)
                advice.caveats.push_back(
                    message<"gradient.accumulation.batch_changes",
                            "{key} becomes {value}, so that an update sees the same number of samples.">(
                        {{"key", change.key}, {"value", change.to}}));
    return advice;
}

} // namespace

Rule gradient_accumulation()
{
    return proposing("2", {kKey, "Memory limits the batch size", check, Needs::Run});
}

} // namespace advisor::rules
