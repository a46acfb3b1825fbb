#pragma once

#include "advisor/rule.h"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

/// The words in which rules say what they found.
namespace advisor {

/// The most evidence that a card lists.
inline constexpr std::size_t kMostEvidence = 10;

/// What a trace has to contain for an answer, where it does not.
enum class Need {
    Operators,
    Shapes, ///< and types, of the operators' inputs
    Kernels,
    KernelsAndHost, ///< with the calls that launch them
    CopySources,
    Device,
    Clocks,
    Memory,
    MemoryLimit,
    Program, ///< settings and phases, which Stepscope's own recordings have
    Loss,
    Steps,
    Longer,
    SecondEpoch,
    Validation,
    Workers,
    Ranges,
    Ranks,
    Measurement,
    QuietMachine
};

Advice silent(profiler::Message reason);
/// @param reason  what the trace does not record
/// @param need  what to do for an answer
Advice cannotTell(profiler::Message reason, Need need);
/// The reason; where the rule cannot tell, what it needs follows.
std::string reasonText(const Advice& advice);
Advice fires(profiler::Message reason);
/// A finding that changes what is learnt: judged by the loss, never predicted.
Advice firesOnLearning(profiler::Message reason);
/// That the trace marks no steps, what is unknown because of that, and how to name them to stepscope-cli.
/// @param consequence  "what a step would save is unknown"
Message noStepMarks(std::string_view consequence = {});
/// What every rule that speaks of steps says when there are none to speak of; no value when there are some.
std::optional<Advice> withoutSteadySteps(const RuleContext& c);

Evidence evidenceOf(const profiler::Trace& trace, profiler::SliceId slice);
/// Adds at most kMostEvidence, in the order given.
void addEvidence(Advice& advice, const profiler::Trace& trace, std::span<const profiler::SliceId> slices);
void addEvidence(Advice& advice, const profiler::Trace& trace, std::span<const profiler::Slice> slices);
/// Sets the toggle from the run's configuration, or says why there is none: the run has no configuration, or the
/// trainer would refuse it with this value.
void setToggle(Advice& advice, const RuleContext& c, std::string_view key, std::string to);
/// The same with the first of several values that the trainer takes beside the run's other settings.
void setToggleToFirst(Advice& advice, const RuleContext& c, std::string_view key, std::initializer_list<std::string_view> to);
/// Adds the first steps: where a setting, and nothing in particular, is what is shown.
void addSteps(Advice& advice, const RuleContext& c);
/// µs of a step.
Saving perStep(double low, double mid, double high);

} // namespace advisor
