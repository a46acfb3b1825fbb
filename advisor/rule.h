#pragma once

#include "advisor/advice.h"
#include "advisor/evidence/op_walk.h"
#include "advisor/prediction/time_parts.h"
#include "profiler/analysis/device/launch_statistics.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/job/job_facts.h"
#include "profiler/analysis/replay/replay.h"
#include "profiler/model/registered.h"
#include "trainer/config/training_config.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace advisor {

struct ProgramValues;

/// The input of a rule.
struct RuleContext {
    const profiler::Trace& trace;
    const profiler::analysis::Facts& facts;         ///< computed once for all rules
    const config::TrainingConfig* config = nullptr; ///< the configuration of the run; null for an imported trace
    const profiler::Trace* job = nullptr; ///< the trace with all ranks if `trace` is one of them; null: `trace`
                                          ///< contains everything
    /// All ranks if they are in files of their own and `trace` is one of them; null: no such job.
    const profiler::analysis::JobFacts* ranks = nullptr;

    // What several rules need is computed when the first of them asks for it. Rules run on several threads.

    /// The trace as a graph.
    [[nodiscard]] const profiler::analysis::ReplayGraph& replay() const;
    /// The replay without changes.
    [[nodiscard]] const profiler::analysis::Replayed& unchanged() const;
    /// Outermost operators.
    [[nodiscard]] const std::vector<ThreadOps>& ops() const;
    /// The launch queue of each device.
    [[nodiscard]] const profiler::analysis::LaunchStatistics& launches() const;
    /// Times between two launches of a thread in one steady-state step, see launch_bound.h.
    [[nodiscard]] const profiler::analysis::Intervals& betweenLaunches() const;
    /// Values that the trace contains, without those of the configuration.
    [[nodiscard]] const ProgramValues& recordedValues() const;

    struct Shared;
    /// Holds their results; copies of the context share it.
    std::shared_ptr<Shared> shared = makeShared();

private:
    static std::shared_ptr<Shared> makeShared();
};

/// How much of a run a rule needs to be correct.
enum class Needs {
    Steps, ///< some steps: the rule is about the work of each step
    Run    ///< the whole run: peaks, epochs, validation, occasional events, development over time
};

/// One tip. A file advisor/rules/<stem>.cpp defines `Rule <stem>()`; the stem is the key with underscores instead of
/// dots.
struct Rule {
    std::string_view key;   ///< "loader.workers": a key of the table of tips
    std::string_view title; ///< title of the finding
    Advice (*check)(const RuleContext&);
    Needs needs = Needs::Steps;
    /// The parts of the time that its finding may claim, see shareOutTime(). None: it saves no step time.
    TimePart claims = TimePart::None;
    /// It summarizes more specific findings and claims only the time that they leave.
    bool general = false;
    /// The value that its finding about a recorded program proposes; empty: no single value.
    std::string_view proposes = {};
};
/// The rule with the value that its finding about a recorded program proposes.
constexpr Rule proposing(std::string_view value, Rule rule)
{
    rule.proposes = value;
    return rule;
}

/// All rules from the generated registry, sorted by key.
std::vector<Rule> allRules();

struct TimeClaim {
    TimePart part = TimePart::None;
    double us = 0;
};

struct RuleAdvice {
    std::string id; ///< the rule's key
    Advice advice;
    double impact = 0; ///< estimated value of the finding in µs per step, without the time that other findings claim;
                      ///< used for ranking
    /// Step time in µs that it claims in the analysis window, by part; without steps, time of the whole window.
    /// Findings never claim the same time twice.
    std::vector<TimeClaim> claims = {};
    std::string sharesWith = {}; ///< id of the finding that claims most of the time that this one is about; empty: none
};
/// Every rule's verdict: findings first, sorted by their saving (mid, as a share of a step), then cannot tell, then
/// silent. Uses all cores.
std::vector<RuleAdvice> advise(const profiler::Trace& trace, const config::TrainingConfig* config);
/// The same with precomputed facts for the steps to analyze.
/// @param stop once requested, the remaining rules are skipped and the result must be discarded
/// @param ranks all ranks of the job that the trace is one rank of; null: the trace is a whole job
std::vector<RuleAdvice> advise(const profiler::Trace& trace, const profiler::analysis::Facts& facts,
                               const config::TrainingConfig* config, const std::stop_token& stop = {},
                               const profiler::analysis::JobFacts* ranks = nullptr);
/// Verdicts of the rules that need only some steps (Needs::Steps), in the same order. Uses one thread, because a
/// training is running.
/// @param trace the last steps of a run in progress, see analysis::lastSteps() and TraceBuilder::endOf()
std::vector<RuleAdvice> adviseOnSteps(const profiler::Trace& trace, const profiler::analysis::Facts& facts,
                                      const config::TrainingConfig* config, const std::stop_token& stop = {});

} // namespace advisor
