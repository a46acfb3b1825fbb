#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "model.norm";
// Fewer samples than these give batch norm statistics that are mostly noise.
// Source: Wu and He, Group Normalization, ECCV 2018, figure 1.
constexpr std::int64_t kSmallBatch = 8;

bool takesNorms(std::string_view workload)
{
    constexpr std::array<std::string_view, 5> kWithNorms = {"convnet", "resnet18", "resnet50", "mlp", "unet3d"};
    return std::find(kWithNorms.begin(), kWithNorms.end(), workload) != kWithNorms.end();
}

Advice check(const Case& c)
{
    if (!c.config)
        return cannotTell("The trace holds no configuration: which layers the model has is not recorded.");
    const std::string& workload = (*c.config)[config::key::workload];
    const std::string& norm = (*c.config)[config::key::modelNorm];
    const std::int64_t batch = (*c.config)[config::key::batchSize];
    if (!takesNorms(workload))
        return silent(fmt::format("A {} has no layers whose normalisation can be chosen.", workload));
    const bool small = batch < kSmallBatch;
    if (norm == "group" || (norm == "batch" && !small))
        return silent(fmt::format("Layers are followed by {} norm, with {} samples in a batch.", norm, batch));
    Advice advice = firesOnLearning(
        norm == "none"
            ? std::string("Nothing normalises what layers pass on: deep stacks then learn slowly or not at all.")
            : fmt::format("Batch norm takes its statistics from {} samples: mostly noise.", batch));
    advice.caveats = {
        "Batch norm depends on the other samples of a batch: small batches hurt it, group norm does not mind.",
        "Weights saved with one kind of norm do not load into a model with another."};
    setToggle(advice, c, kKey, small ? "group" : "batch");
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule model_norm()
{
    return {kKey, "Deep layers are not normalised", check};
}

} // namespace advisor::rules
