#include "advisor/advice.h"
#include "advisor/evidence/program_values.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/knob_changes.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "optimizer.kind";
// Source: You et al., Large Batch Training of Convolutional Networks, 2017: up to 8,192 samples, SGD with a scaled
// learning rate is as good; beyond that, LARS is better.
constexpr double kLargeBatch = 8192;

Advice finding(const RuleContext& c, Message reason, std::string to)
{
    Advice advice = firesOnLearning(std::move(reason));
    advice.caveats = {
        message<"optimizer.kind.learning_rate",
                "Another optimizer needs another learning rate: find it first (schedule.kind=range_test).">(),
        message<"optimizer.kind.weight_decay",
                "Decoupled weight decay is not L2 regularization: choose its value again.">()};
    setToggle(advice, c, kKey, std::move(to));
    addSteps(advice, c);
    return advice;
}

/// The values that the rule checks; for a recorded program, as far as the trace contains them.
struct Settings {
    std::string optimizer; ///< as named in the configuration or in Python
    std::string kind;      ///< "sgd", "adam", "adamw"; other names are kept as they are
    std::optional<double> weightDecay;
    std::optional<double> samples; ///< per step
};

Settings settingsOf(const config::TrainingConfig& config)
{
    const std::string& optimizer = config[config::key::optimizer];
    return {optimizer, optimizer, config[config::key::weightDecay], samplesOfAStep(config)};
}

Settings settingsOf(const RuleContext& c)
{
    const ProgramValues& values = c.recordedValues();
    Settings settings{values.optimizer, {}, values.weightDecay, {}};
    for (const auto& [name, kind] : {std::pair("torch.optim.SGD", "sgd"), std::pair("torch.optim.Adam", "adam"),
                                     std::pair("torch.optim.AdamW", "adamw")})
        if (values.optimizer == name)
            settings.kind = kind;
    // A loader provides the batches of one rank.
    const std::string ranks(metadata(c.trace, "world_size"));
    if (values.batchSize)
        settings.samples = static_cast<double>(*values.batchSize) * std::max(1.0, std::strtod(ranks.c_str(), nullptr));
    return settings;
}

Advice check(const RuleContext& c)
{
    const auto& [optimizer, kind, decay, samples] = c.config ? settingsOf(*c.config) : settingsOf(c);
    if (optimizer.empty())
        return cannotTell(message<"optimizer.kind.not_recorded",
                                  "The trace does not show a single optimizer that the program uses.">(),
                          Need::Program);
    const double batch = samples.value_or(0);
    const bool plain = kind == "sgd" || kind == "adam" || kind == "adamw";
    if (batch > kLargeBatch && plain)
        return finding(
            c,
            message<"optimizer.kind.large_batch", "{samples} samples per step are more than {optimizer} scales to; "
                                                  "layer-wise adaptive optimizers are made for such batches.">(
                {{"samples", batch, countText(batch)}, {"optimizer", optimizer}}),
            kind == "sgd" ? "lars" : "lamb");
    if (kind == "adam" && decay.value_or(0) > 0)
        return finding(
            c,
            message<"optimizer.kind.adam_decay", "Adam scales weight decay by the gradient magnitude, so weights with "
                                                 "large gradients hardly decay; AdamW decouples the two.">(),
            "adamw");
    if (!samples || (kind == "adam" && !decay))
        return cannotTell(message<"optimizer.kind.settings_not_recorded",
                                  "The program uses {optimizer}, but the trace does not record {what}.">(
                              {{"optimizer", optimizer}, {"what", samples ? "its weight decay" : "the batch size"}}),
                          Need::Program);
    return silent(message<"optimizer.kind.suits", "{optimizer} suits {samples} samples per step.">(
        {{"optimizer", optimizer}, {"samples", batch, countText(batch)}}));
}

} // namespace

Rule optimizer_kind()
{
    return proposing("adamw", {kKey, "Another optimizer suits this batch size", check});
}

} // namespace advisor::rules
