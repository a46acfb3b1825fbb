#pragma once

#include "advisor/advice.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/job/job_analysis.h"
#include "profiler/analysis/replay/replay.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/registered.h"
#include "profiler/model/trace.h"
#include "trainer/config/training_config.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// Rules, their input, and the advice that all of them together give on a trace.
namespace advisor {

/// What a device did, or what it waited for. A set of parts is a sum of flags; claims are taken from its parts in this
/// order.
enum class TimePart : std::uint16_t {
    None = 0,
    Data = 1 << 0,          ///< idle while the program waits for a batch
    Sync = 1 << 1,          ///< idle while the host waits for the device
    Copy = 1 << 2,          ///< copies that no kernel hides, and idle time while the host waits for a copy
    Launch = 1 << 3,        ///< idle with an empty launch queue while the host works, or between the launches of a step
    Allocation = 1 << 4,    ///< idle while device memory is allocated or freed
    Communication = 1 << 5, ///< communication that no compute hides, and idle time while the host communicates
    WarmUp = 1 << 6,        ///< idle while kernel code is loaded, and during other one-time work of a process
    Kernels = 1 << 7,       ///< compute; in a run on the CPU, everything except the wait for data
    Unknown = 1 << 8,       ///< idle with work in the launch queue, after the last work, or without an event that
                            ///< explains it
};
inline constexpr std::size_t kTimeParts = 9;

constexpr TimePart operator|(TimePart a, TimePart b)
{
    return static_cast<TimePart>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}
constexpr bool contains(TimePart set, TimePart part)
{
    return (static_cast<std::uint16_t>(set) & static_cast<std::uint16_t>(part)) != 0;
}
/// The n-th part, in the order above.
constexpr TimePart timePart(std::size_t index)
{
    return static_cast<TimePart>(1U << index);
}
/// "data", "sync", "copy", "launch", "allocation", "communication", "warm-up", "kernels", "unknown".
std::string_view timePartName(TimePart part);

/// All parts: for findings about whole steps.
inline constexpr TimePart kWholeStep = static_cast<TimePart>((1U << kTimeParts) - 1);
/// The parts that shrink if the host does less work or launches less.
inline constexpr TimePart kHostWork = TimePart::Launch | TimePart::Kernels;

/// Time of each part in a step in µs; without steps, in the whole analysis window. Means over the working devices.
struct TimeParts {
    std::array<double, kTimeParts> us{};
    [[nodiscard]] double of(TimePart set) const
    {
        double sum = 0;
        for (std::size_t i = 0; i < kTimeParts; ++i)
            sum += contains(set, timePart(i)) ? us[i] : 0;
        return sum;
    }
    [[nodiscard]] double total() const
    {
        double sum = 0;
        for (const double part : us)
            sum += part;
        return sum;
    }
    /// Everything except the kernels.
    [[nodiscard]] double idle() const { return total() - of(TimePart::Kernels); }
};

/// Operators of one thread without a parent operator, sorted by start: matmul contains bmm, convolution contains
/// _convolution. Ranges that contain operators do not count, although old profilers record them as operators.
struct ThreadOps {
    profiler::TrackId track;
    std::vector<profiler::analysis::SliceBrief> outermost;
};

struct ProgramValues;

/// The input of a rule.
struct RuleContext {
    const profiler::Trace& trace;
    const profiler::analysis::Facts& facts;         ///< computed once for all rules
    const config::TrainingConfig* config = nullptr; ///< the configuration of the run; null for an imported trace
    const profiler::Trace* job = nullptr; ///< the trace with all ranks if `trace` is one of them; null: `trace`
                                          ///< contains everything
    /// All ranks if they are in separate files and `trace` is one of them; null: no such job.
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
    /// Contains their results; copies of the context share it.
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
    /// The parts of the time that its finding may claim, see attributeTime(). None: it saves no step time.
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

/// Updates the advice on a run in progress with verdicts on its last steps (adviseOnSteps()). Until the whole run is
/// analyzed again, evidence only accumulates, so that findings do not come and go with the content of the last steps:
/// "cannot tell" changes nothing, "silent" replaces "cannot tell" and an older "silent", and a finding replaces
/// anything. A finding that the last steps do not show stays unchanged. Advice whose state does not change keeps its
/// position; a new finding is inserted before the first one with a lower impact.
/// @param current  best first, as returned by advise()
std::vector<RuleAdvice> mergeLiveAdvice(std::vector<RuleAdvice> current, std::vector<RuleAdvice> ofLastSteps);

} // namespace advisor
