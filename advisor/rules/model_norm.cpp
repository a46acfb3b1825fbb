#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "model.norm";
// With fewer samples than this, batch norm statistics are mostly noise. Source: Wu and He, Group Normalization, ECCV
// 2018, figure 1.
constexpr std::int64_t kSmallBatch = 8;

Advice check(const RuleContext& c)
{
    if (!c.config)
        return cannotTell(message<"model.norm.no_configuration",
                                  "The trace contains no configuration: the model's layers are unknown.">(),
                          Need::Program);
    const std::string& workload = (*c.config)[config::key::workload];
    const std::string& norm = (*c.config)[config::key::modelNorm];
    const std::int64_t batch = (*c.config)[config::key::batchSize];
    if (c.config->unmetCondition(*config::findKnob(kKey)))
        return silent(message<"model.norm.no_choice", "{workload} has no layers whose normalization can be chosen.">(
            {{"workload", workload}}));
    const bool small = batch < kSmallBatch;
    if (norm == "group" || (norm == "batch" && !small))
        return silent(message<"model.norm.suits", "The model uses {norm} norm with a batch of {batch} samples.">(
            {{"norm", norm}, {"batch", batch}}));
    Advice advice = firesOnLearning(
        norm == "none"
            ? message<"model.norm.none",
                      "The model has no normalization layers: without them, deep models learn slowly or not at all.">()
            : message<"model.norm.small_batch",
                      "Batch norm computes its statistics from only {batch} samples, so they are mostly noise.">(
                  {{"batch", batch}}));
    advice.caveats = {message<"model.norm.batch_dependence", "Batch norm depends on the other samples of a batch and "
                                                             "suffers from small batches; group norm does not.">(),
                      message<"model.norm.checkpoints",
                              "Checkpoints saved with one kind of norm cannot be loaded into a model with another.">()};
    setToggle(advice, c, kKey, small ? "group" : "batch");
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule model_norm()
{
    return {kKey, "Deep layers are not normalized", check};
}

} // namespace advisor::rules
