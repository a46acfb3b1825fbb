#pragma once

#include "advisor/rule.h"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

/// Building blocks for the verdicts of rules.
namespace advisor {

/// Maximum number of evidence entries that a card lists.
inline constexpr std::size_t kMostEvidence = 10;

/// What a trace has to contain for an answer.
enum class Need {
    Operators,
    Shapes, ///< shapes and types of the operators' inputs
    Kernels,
    KernelsAndHost, ///< kernels with the calls that launch them
    CopySources,
    Device,
    Clocks,
    Memory,
    MemoryLimit,
    Program, ///< settings and phases, which Stepscope's own recordings contain
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
/// @param reason what the trace does not record
/// @param need what to do to get an answer
Advice cannotTell(profiler::Message reason, Need need);
/// The reason; if the rule cannot tell, followed by what it needs.
std::string reasonText(const Advice& advice);
Advice fires(profiler::Message reason);
/// A finding that changes what the model learns: its objective is the loss, and there is no estimate.
Advice firesOnLearning(profiler::Message reason);
/// Says that the trace marks no steps, what is unknown because of this, and how to name steps in stepscope-cli.
/// @param consequence "the saving per step is unknown"
Message noStepMarks(std::string_view consequence = {});
/// The verdict of every rule that needs steps if there are none; no value if there are some.
std::optional<Advice> withoutSteadySteps(const RuleContext& c);

Evidence evidenceOf(const profiler::Trace& trace, profiler::SliceId slice);
/// Adds at most kMostEvidence entries, in the given order.
void addEvidence(Advice& advice, const profiler::Trace& trace, std::span<const profiler::SliceId> slices);
void addEvidence(Advice& advice, const profiler::Trace& trace, std::span<const profiler::Slice> slices);
/// Sets the toggle from the run's configuration, or the reason why there is none: the run has no configuration, or the
/// trainer would reject this value.
void setToggle(Advice& advice, const RuleContext& c, std::string_view key, std::string to);
/// The same with the first of several values that the trainer accepts together with the run's other settings.
void setToggleToFirst(Advice& advice, const RuleContext& c, std::string_view key,
                      std::initializer_list<std::string_view> to);
/// Adds the first steps, for findings about a setting without a particular place in the trace.
void addSteps(Advice& advice, const RuleContext& c);
/// In µs per step.
Saving perStep(double low, double mid, double high);

} // namespace advisor
