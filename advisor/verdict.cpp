#include "advisor/verdict.h"

#include "advisor/evidence/run_facts.h"
#include "advisor/knob_changes.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor {

using profiler::message;

namespace {

Advice verdict(State state, profiler::Message reason)
{
    Advice advice;
    advice.state = state;
    advice.reason = std::move(reason);
    return advice;
}

/// Why the trainer would not run with this change, apart from problems that the run has without it; empty: it would
/// run.
std::string refusal(const RuleContext& c, const Toggle& toggle)
{
    const bool gpu = !ranOnCpu(c);
    config::TrainingConfig changed = *c.config;
    for (const Toggle& change : changesOf(toggle, *c.config))
        if (const auto set = changed.set(change.key, change.to); !set)
            return set.error().message();
    const auto before = c.config->problems(gpu);
    for (const config::ConfigError& problem : changed.problems(gpu))
        if (std::none_of(before.begin(), before.end(), [&](const config::ConfigError& known) {
                return known.key == problem.key && known.allowed == problem.allowed;
            }))
            return problem.message();
    return {};
}

profiler::Message needText(Need need)
{
    switch (need) {
    case Need::Operators:
        return message<"need.operators", "Record operators: stepscope-cli record --ops, or PyTorch's profiler.">();
    case Need::Shapes:
        return message<"need.shapes", "Record operators with their inputs: stepscope-cli record --ops --level full; "
                                      "PyTorch's profiler: record_shapes=True.">();
    case Need::Kernels:
        return message<"need.kernels", "Record GPU work: stepscope-cli record, or PyTorch's profiler with "
                                       "ProfilerActivity.CUDA.">();
    case Need::KernelsAndHost:
        return message<"need.kernels_and_host",
                       "Record the CPU and the GPU together: stepscope-cli record, or PyTorch's profiler with "
                       "ProfilerActivity.CPU and ProfilerActivity.CUDA.">();
    case Need::CopySources:
        return message<"need.copy_sources",
                       "Record copies with their sizes and kinds of memory: stepscope-cli record.">();
    case Need::Device:
        return message<"need.device", "Record the GPU's properties: stepscope-cli record, or PyTorch's profiler.">();
    case Need::Clocks:
        return message<"need.clocks",
                       "Record with stepscope-cli record, which reads the reasons from the GPU's driver.">();
    case Need::Memory:
        return message<"need.memory", "Record memory: stepscope-cli record --level full; PyTorch's profiler: "
                                      "profile_memory=True.">();
    case Need::MemoryLimit:
        return message<"need.memory_limit", "Set the memory limit (batch.memory_limit) and run again.">();
    case Need::Program:
        return message<"need.program", "Record the training with stepscope-cli record, which stores the program's "
                                       "settings and marks the phases of each step.">();
    case Need::Loss:
        return message<"need.loss", "Record the training with stepscope-cli record, which reads the loss that "
                                    "backward() starts from.">();
    case Need::Steps:
        return message<"need.steps", "Mark the steps: call stepscope.step() or the step() of PyTorch's profiler; for "
                                     "ranges, stepscope-cli --step-range NAME.">();
    case Need::Longer:
        return message<"need.longer", "Record more steps.">();
    case Need::SecondEpoch:
        return message<"need.second_epoch", "Record at least two epochs.">();
    case Need::Validation:
        return message<"need.validation", "Record until a validation has run.">();
    case Need::Workers:
        return message<
            "need.workers",
            "Record while loader workers are running: stepscope-cli record of a program with at least two workers.">();
    case Need::Ranges:
        return message<"need.ranges", "Record NVTX ranges: stepscope-cli record.">();
    case Need::Ranks:
        return message<"need.ranks", "Open the recordings of all ranks of one run together.">();
    case Need::Measurement:
        return message<"need.measurement", "Measure the change.">();
    case Need::QuietMachine:
        return message<"need.quiet_machine", "Record on an idle machine, with no more threads than cores.">();
    }
    return {};
}

} // namespace

Advice silent(profiler::Message reason)
{
    return verdict(State::Silent, std::move(reason));
}
Advice cannotTell(profiler::Message reason, Need need)
{
    Advice advice = verdict(State::CannotTell, std::move(reason));
    advice.need = needText(need);
    return advice;
}
std::string reasonText(const Advice& advice)
{
    return advice.need.text.empty() ? advice.reason.text : advice.reason.text + ' ' + advice.need.text;
}

Advice fires(profiler::Message reason)
{
    return verdict(State::Fires, std::move(reason));
}
Advice firesOnLearning(profiler::Message reason)
{
    Advice advice = fires(std::move(reason));
    advice.objective = Objective::LossAtEqualTime;
    advice.whyNoPrediction =
        message<"loss.not_predicted", "The effect on the loss cannot be predicted from a trace.">();
    return advice;
}

Message noStepMarks(std::string_view consequence)
{
    if (consequence.empty())
        return message<"steps.none", "The trace has no step marks, and no steps were inferred from repeated work.">();
    return message<"steps.none.consequence",
                   "The trace has no step marks: {consequence} (stepscope-cli: --step-range NAME uses the ranges of "
                   "that name as steps).">({{"consequence", consequence}});
}

std::optional<Advice> withoutSteadySteps(const RuleContext& c)
{
    if (c.facts.statistics.count == 0)
        return cannotTell(noStepMarks(), Need::Steps);
    if (c.facts.statistics.steadyCount == 0)
        return cannotTell(message<"steps.no_steady", "The trace has no complete step after warm-up.">(), Need::Longer);
    return std::nullopt;
}

Evidence evidenceOf(const profiler::Trace& trace, profiler::SliceId slice)
{
    const profiler::Slice found = trace.slice(slice);
    return {.track = slice.track, .slice = slice, .range = found.range(), .name = std::string(trace.name(found))};
}

void addEvidence(Advice& advice, const profiler::Trace& trace, std::span<const profiler::SliceId> slices)
{
    for (const profiler::SliceId slice : slices)
        if (advice.evidence.size() < kMostEvidence)
            advice.evidence.push_back(evidenceOf(trace, slice));
}

void addEvidence(Advice& advice, const profiler::Trace& trace, std::span<const profiler::Slice> slices)
{
    for (const profiler::Slice& slice : slices)
        addEvidence(advice, trace, std::span(&slice.id, 1));
}

void setToggle(Advice& advice, const RuleContext& c, std::string_view key, std::string to)
{
    setToggleToFirst(advice, c, key, {to});
}

void setToggleToFirst(Advice& advice, const RuleContext& c, std::string_view key,
                      std::initializer_list<std::string_view> to)
{
    Message refused;
    const auto from = setting(c, key);
    if (!to.begin()->empty()) // otherwise there is no value to propose
        advice.proposed = Toggle{std::string(key), from.value_or(std::string()), std::string(*to.begin())};
    if (from) {
        for (const std::string_view value : to) {
            const Toggle toggle{std::string(key), *from, std::string(value)};
            const std::string why = refusal(c, toggle);
            if (why.empty()) {
                advice.toggle = toggle;
                return;
            }
            if (refused.empty())
                refused = message<"toggle.refused", "{key} = {value} conflicts with the run's other settings: {why}.">(
                    {{"key", key}, {"value", value}, {"why", why}});
        }
        advice.whyNoToggle = refused;
    } else if (c.config)
        advice.whyNoToggle = message<"toggle.no_setting", "The trainer has no such setting: copy the code below.">();
    else
        advice.whyNoToggle = message<"toggle.no_configuration", "Cannot be re-run from here: copy the code below.">();
}

void addSteps(Advice& advice, const RuleContext& c)
{
    for (const profiler::analysis::Step& step : c.facts.steps)
        if (advice.evidence.size() < kMostEvidence)
            advice.evidence.push_back(evidenceOf(c.trace, step.slice));
}

Saving perStep(double low, double mid, double high)
{
    return {.unit = SavingUnit::UsPerStep, .low = low, .mid = mid, .high = high};
}

} // namespace advisor
