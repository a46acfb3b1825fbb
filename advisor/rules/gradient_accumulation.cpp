#include "advisor/advice.h"
#include "advisor/evidence/memory_use.h"
#include "advisor/knob_changes.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <vector>

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
// If each pass exchanges gradients, the change is only to leave exchanges out, so that less makes it worthwhile.
constexpr double kExposedInEach = 0.02;
// Backward passes per step, above which the job accumulates. A second one in some steps, of a penalty or a critic, does
// not count.
constexpr double kSeveralPasses = 1.9;

/// Backward passes in a steady step; 0: unknown.
double passesPerStep(const RuleContext& c)
{
    using namespace profiler::analysis;
    const std::vector<profiler::TimeRange> steps = steadyStateSteps(c.facts.steps);
    if (steps.empty())
        return 0;
    std::vector<profiler::TimeRange> begins;
    const Phases phases(c.trace);
    for (const profiler::Slice& slice : ofKindNamed(c.trace, profiler::ActivityKind::Phase, [](std::string_view name) {
             return name == profiler::phase::kBackward;
         }))
        begins.push_back({slice.begin, slice.begin});
    if (begins.empty())
        for (const profiler::TimeRange& pass : backwardPasses(c.trace, phases, c.facts.steps.front().slice.track))
            begins.push_back(pass);
    double passes = 0;
    for (const profiler::TimeRange& pass : begins)
        passes +=
            std::ranges::any_of(steps, [&](const profiler::TimeRange& step) { return step.contains(pass.begin); });
    return passes / static_cast<double>(steps.size());
}

/// Whether each pass of a step exchanges all gradients: then a step has each size of an all-reduce once per pass, or
/// several times. False if the sizes are not recorded.
bool exchangesInEachPass(const profiler::analysis::GradientExchange& exchange, double passes)
{
    return !exchange.sizes.contains(0) && std::ranges::all_of(exchange.sizes, [&](const auto& size) {
        const double times = size.second / passes;
        return times > 0.95 && std::abs(times - std::round(times)) < 0.05;
    });
}

/// Accumulation also exchanges gradients less often: an answer for a job whose transfers are exposed, or that
/// accumulates already. Waiting for late ranks does not count, because it would remain. No value if only the memory
/// decides.
std::optional<Advice> exchangesOfJob(const RuleContext& c)
{
    const profiler::analysis::JobAnalysis& job = c.ranks->analysis;
    double exposedUs = 0;
    for (const profiler::analysis::GroupUse& use : job.groups)
        if (use.role == profiler::analysis::GroupRole::Data)
            exposedUs += std::min(use.exposedUs, use.transferUs);
    const double share = job.stepUs > 0 ? exposedUs / job.stepUs : 0;
    const profiler::MessageParameter shown{"share", share, shareText(share)};
    const double passes = passesPerStep(c);
    const bool inEach = passes > kSeveralPasses && job.gradients && exchangesInEachPass(*job.gradients, passes);
    const profiler::MessageParameter several{"passes", passes, countText(passes)};
    if (passes > kSeveralPasses && job.gradients && !inEach && share < kExposedTransfers)
        return silent(
            message<"gradient.accumulation.once",
                    "The job accumulates gradients: a step exchanges them once for {passes} passes.">({several}));
    if (share < (inEach ? kExposedInEach : kExposedTransfers))
        return std::nullopt;
    // The part of the transfers that remains: those of one pass.
    const double remains = inEach ? 1 / passes : 0.5;
    Advice advice =
        inEach
            ? fires(message<"gradient.accumulation.every_pass",
                            "Each of the {passes} passes of a step exchanges gradients; exposed transfers take up to "
                            "{share} of the step. Only the last pass needs to exchange them.">({several, shown}))
            : fires(message<"gradient.accumulation.exchanges",
                            "Exposed transfers of gradients take up to {share} of each step. With accumulation, "
                            "ranks exchange gradients once for several passes.">({shown}));
    advice.timeShare = share * (1 - remains);
    const double savedUs = exposedUs * (1 - remains);
    const profiler::MessageParameter bound{"time", savedUs, timeText(savedUs)};
    advice.whyNoPrediction =
        inEach
            ? message<"gradient.accumulation.every_pass_bound", "At most {time} per step.">({bound})
            : message<"gradient.accumulation.exchange_bound", "With two passes per update, at most {time} per pass.">(
                  {bound});
    advice.caveats = {message<"gradient.accumulation.no_sync",
                              "With DistributedDataParallel, wrap all passes but the last in no_sync(); otherwise each "
                              "pass exchanges gradients.">()};
    if (inEach) {
        advice.whyNoToggle = message<"gradient.accumulation.no_sync_setting",
                                     "No setting: the program accumulates already, and lacks no_sync().">();
        return advice;
    }
    advice.caveats.push_back(
        message<"gradient.accumulation.larger_batch",
                "An update sees more samples: adjust the learning rate, or use smaller batches.">());
    setToggle(advice, c, kKey, "2");
    return advice;
}

Advice check(const RuleContext& c)
{
    if (c.ranks)
        if (auto advice = exchangesOfJob(c))
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
