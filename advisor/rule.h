#pragma once

#include "advisor/advice.h"
#include "advisor/op_walk.h"
#include "advisor/prediction/time_parts.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/launch_statistics.h"
#include "profiler/analysis/replay.h"
#include "profiler/model/registered.h"
#include "trainer/config/training_config.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace advisor {

/// What a rule may look at.
struct RuleContext {
    const profiler::Trace& trace;
    const profiler::analysis::Facts& facts;         ///< computed once for all rules
    const config::TrainingConfig* config = nullptr; ///< of the run; null for an imported trace
    const profiler::Trace* job = nullptr; ///< the trace with all ranks, where `trace` is one of them; null: `trace` is

    /// The trace as a graph, made when the first rule asks for it. Not for several threads at once.
    [[nodiscard]] const profiler::analysis::ReplayGraph& replay() const;

    /// Its replay with nothing changed; as replay().
    [[nodiscard]] const profiler::analysis::Replayed& unchanged() const;
    /// Outermost operators, made when the first rule asks for them. Not for several threads at once.
    [[nodiscard]] const std::vector<ThreadOps>& ops() const;
    /// The launch queue of each device, made when the first rule asks for it. Not for several threads at once.
    [[nodiscard]] const profiler::analysis::LaunchStatistics& launches() const;

    /// Times between two launches of a thread in one judged step, see launch_bound.h; made when it is first asked for.
    /// Not for several threads at once.
    [[nodiscard]] const profiler::analysis::Intervals& betweenLaunches() const;

    mutable std::shared_ptr<const profiler::analysis::ReplayGraph> graph = nullptr;      ///< behind replay()
    mutable std::shared_ptr<const profiler::analysis::Replayed> asItWas = nullptr;       ///< behind unchanged()
    mutable std::shared_ptr<const std::vector<ThreadOps>> outermost = nullptr;           ///< behind ops()
    mutable std::shared_ptr<const profiler::analysis::LaunchStatistics> queue = nullptr; ///< behind launches()
    mutable std::shared_ptr<const profiler::analysis::Intervals> between = nullptr;      ///< behind betweenLaunches()
};

/// What a rule must see of a run to be right.
enum class Needs {
    Steps, ///< some steps: it is about what each of them does
    Run    ///< all of it: peaks, epochs, validation, what happens now and then, how something goes over time
};

/// One tip. A file advisor/rules/<stem>.cpp defines `Rule <stem>()`; the stem is the key with its dots as underscores.
struct Rule {
    std::string_view key;   ///< "loader.workers": a key of the table of tips
    std::string_view title; ///< of the finding
    Advice (*check)(const RuleContext&);
    Needs needs = Needs::Steps;
    /// The parts of the time that its finding may claim, see shareOutTime(). None: it saves no time of a step.
    TimePart claims = TimePart::None;
    /// It sums up what more specific findings are about: it claims what they leave.
    bool general = false;
    /// The value that its finding about a recorded program proposes; empty: no single one.
    std::string_view proposes = {};
};
/// The rule, with the value that its finding about a recorded program proposes.
constexpr Rule proposing(std::string_view value, Rule rule)
{
    rule.proposes = value;
    return rule;
}

/// All rules, from the generated registry, by key.
std::vector<Rule> allRules();

struct TimeClaim {
    TimePart part = TimePart::None;
    double us = 0;
};

struct RuleAdvice {
    std::string id; ///< the rule's key
    Advice advice;
    double worth = 0; ///< µs of a step that the finding is taken to be worth besides what others claim; ranks it
    /// µs of a step that it claims of the judged time, by part; without steps µs of all of that. Findings never claim
    /// the same time twice.
    std::vector<TimeClaim> claims = {};
    std::string sharesWith = {}; ///< id of the finding that claims most of the time that this one is about; empty: none
};
/// Every rule's verdict: those that fire first, by what they save (mid, in share of a step), then cannot tell, then
/// silent.
std::vector<RuleAdvice> advise(const profiler::Trace& trace, const config::TrainingConfig* config);
/// The same with facts that were computed before, for the steps that should count.
/// @param stop  once requested, the remaining rules are skipped and the result must be discarded
std::vector<RuleAdvice> advise(const profiler::Trace& trace, const profiler::analysis::Facts& facts,
                               const config::TrainingConfig* config, const std::stop_token& stop = {});
/// Verdicts of the rules that some steps suffice for (Needs::Steps), in the same order.
/// @param trace  the last steps of a run that goes on, see analysis::lastSteps() and TraceBuilder::endOf()
std::vector<RuleAdvice> adviseOnSteps(const profiler::Trace& trace, const profiler::analysis::Facts& facts,
                                      const config::TrainingConfig* config, const std::stop_token& stop = {});

} // namespace advisor
