#include "advisor/batch_facts.h"
#include "advisor/memory_saving.h"
#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <cstdlib>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "gradient.accumulation";

/// Why the batch of this configuration is not divided by the advice itself; empty where it is.
std::string whyNotDivided(const config::TrainingConfig& config, const std::optional<Toggle>& parts)
{
    if (config[config::key::compile])
        return "A compiled step holds one pass: gradient.accumulation needs compile=false.";
    if (!parts)
        return fmt::format("A batch of {} samples has no even parts, unless very small ones: first choose a batch.size "
                           "that can be halved.",
                           config[config::key::batchSize]);
    return {};
}

Advice check(const Case& c)
{
    const auto use = memoryUse(c);
    if (auto none = withoutFullMemory(c, use))
        return *none;
    if (auto none = withoutBackward(c))
        return *none;
    const auto parts = c.config ? partsOfTheBatch(*c.config) : std::nullopt;
    if (c.config && (*c.config)[config::key::batchSize] == 1)
        return silent("Each pass takes one sample: there is nothing to divide.");
    Advice advice = firesOnMemory(
        c, *use,
        fmt::format("Memory was {} full: in smaller parts, its gradients added up, the same batch needs less of it.",
                    shareText(use->share())));
    const double times =
        parts ? std::strtod(parts->to.c_str(), nullptr) / std::strtod(parts->from.c_str(), nullptr) : 2;
    if ((advice.saving = savedByParts(c, times)))
        advice.whyNoPrediction = {};
    advice.caveats = {"Costs of a step are paid for each part of the batch.",
                      "The loss is divided by the number of parts; the last, partial group counts its real number."};
    if (c.config)
        advice.whyNoToggle = whyNotDivided(*c.config, parts);
    if (!advice.whyNoToggle.empty())
        return advice;
    setToggle(advice, c, kKey, parts ? parts->to : "2");
    if (parts)
        for (const Toggle& change : changesOf(*parts, *c.config))
            if (change.key != kKey)
                advice.caveats.push_back(fmt::format("{} becomes {} with it, so that an update sees as many samples.",
                                                     change.key, change.to));
    return advice;
}

} // namespace

Rule gradient_accumulation()
{
    return {kKey, "Memory bounds the batch", check, Needs::Run};
}

} // namespace advisor::rules
