#include "advisor/rule.h"

#include "advisor/evidence/launch_bound.h"
#include "advisor/evidence/program_values.h"
#include "advisor/evidence/program_verdict.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/evidence/source_lines.h"
#include "advisor/prediction/attribution.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "advisor_rules_registry.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/step_repetition.h"
#include "profiler/model/activity.h"
#include "profiler/model/parallel.h"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

namespace advisor {

using namespace profiler;

namespace {

enum class Holds { AsAnOperator, AsARange };

/// A range has a name without a namespace: "DistributedDataParallel.forward", a program's "forward". A wait for a batch
/// and a node of the backward pass ("MmBackward0") count as operators and stand for their contents.
Holds nestingOf(std::string_view name)
{
    const auto end = name.find_last_not_of("0123456789");
    const bool backward = name.substr(0, end == name.npos ? 0 : end + 1).ends_with("Backward");
    return backward || name.find("::") != name.npos || analysis::phaseOfRange(name) == phase::kDataWait
               ? Holds::AsAnOperator
               : Holds::AsARange;
}

/// Removes the ranges around operators.
void dropRanges(const Trace& trace, std::vector<analysis::SliceBrief>& ops)
{
    analysis::NameAnswers hold(trace, nestingOf);
    std::vector<bool> drop(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i)
        if (hold(ops[i].name) == Holds::AsARange)
            for (std::size_t k = i + 1; k < ops.size() && ops[k].begin < ops[i].end() && !drop[i]; ++k)
                drop[i] = hold(ops[k].name) == Holds::AsAnOperator;
    std::size_t at = 0;
    std::erase_if(ops, [&](const analysis::SliceBrief&) { return drop[at++]; });
}

/// The operators of every host thread other than loader workers. Rules share RuleContext::ops().
std::vector<ThreadOps> threadsOps(const Trace& trace)
{
    std::vector<ThreadOps> threads;
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
            continue;
        std::vector<analysis::SliceBrief> ops = analysis::briefsWhere(
            trace, track.id, [](const analysis::SliceView& slice) { return slice.kind() == ActivityKind::CpuOp; });
        dropRanges(trace, ops);
        TraceTime covered = TraceTime::min();
        std::erase_if(ops, [&](const analysis::SliceBrief& op) {
            const bool inside = op.begin < covered;
            covered = inside ? covered : op.end();
            return inside;
        });
        threads.push_back({track.id, std::move(ops)});
    }
    return threads;
}

/// Rank of a state: a stronger state replaces a weaker one.
int strength(State state)
{
    return state == State::Fires ? 2 : state == State::Silent ? 1 : 0;
}

/// Position of a state in the list of advice.
int rank(State state)
{
    return state == State::Fires ? 0 : state == State::CannotTell ? 1 : 2;
}

bool belongsBefore(const RuleAdvice& risen, const RuleAdvice& other)
{
    const int ranks = rank(risen.advice.state) - rank(other.advice.state);
    return ranks != 0 ? ranks < 0 : risen.impact > other.impact;
}

/// The time that shares refer to, in µs: a step, or without step marks the time that the devices ran.
double wholeUs(const RuleContext& c)
{
    return c.facts.statistics.count > 0 ? c.facts.statistics.steadyMeanUs
                                        : profiler::analysis::toUs(c.facts.device.windowTime());
}

/// Estimated value of an advice in µs per step, to compare advice with different units; 0 if it is not a known amount
/// of time. How much of an upper bound a change saves is unknown, and so is how much a finding without a saving gains:
/// both are ranked as if it were half.
double usPerStep(const Advice& advice, const RuleContext& c)
{
    const bool bound = advice.saving && advice.saving->kind == SavingKind::UpperBound;
    const auto steps = std::max<double>(1, static_cast<double>(c.facts.statistics.count));
    if (!advice.saving && advice.measure == "validation") // its share is that of the whole recording
        return advice.timeShare / 2 * profiler::analysis::toUs(c.trace.range().duration()) / steps;
    if (!advice.saving || (bound && advice.saving->unit == SavingUnit::UsPerStep && advice.timeShare > 0))
        return advice.timeShare / 2 * wholeUs(c);
    const double expected = advice.saving->claimed() * (bound ? 0.5 : 1);
    switch (advice.saving->unit) {
    case SavingUnit::UsPerStep:
        return expected;
    case SavingUnit::UsPerEpoch:
        return expected * static_cast<double>(firstOfEpochs(c).size()) / steps;
    case SavingUnit::UsPerValidation:
        return expected * static_cast<double>(validations(c.trace).size()) / steps;
    case SavingUnit::Bytes:
        return 0;
    }
    return 0;
}

/// Duration of an epoch in µs without its validation, which is timed separately. The first epoch includes warm-up: it
/// counts only if there is no other.
double epochUs(const RuleContext& c, const profiler::analysis::Intervals& validating)
{
    const auto& steps = c.facts.steps;
    const std::vector<std::size_t> firsts = firstOfEpochs(c);
    if (firsts.empty())
        return 0;
    const std::size_t first = firsts.size() > 1 ? firsts[1] : 0;
    const profiler::TimeRange range{steps[first].range.begin, steps.back().range.end};
    const auto epochs = static_cast<double>(std::max<std::size_t>(1, firsts.size() - 1));
    return (profiler::analysis::toUs(range.duration()) -
            profiler::analysis::toUs(
                profiler::analysis::total(profiler::analysis::intersect(validating, std::vector{range})))) /
           epochs;
}

/// Duration in µs of the unit of a saving in the trace, as an experiment times it; 0: unknown.
double unitUs(const RuleContext& c, SavingUnit unit)
{
    const profiler::analysis::Intervals validating = validations(c.trace);
    const double validationUs = profiler::analysis::toUs(profiler::analysis::total(validating));
    const double passes = std::max<double>(1, static_cast<double>(validating.size()));
    switch (unit) {
    case SavingUnit::UsPerStep:
        return c.facts.statistics.steadyMeanUs;
    case SavingUnit::UsPerEpoch:
        return epochUs(c, validating);
    case SavingUnit::UsPerValidation:
        return validationUs / passes;
    case SavingUnit::Bytes:
        return 0;
    }
    return 0;
}

/// Adds the lines that prepare batches on the training thread, below the place of the loader.
void addLoadingLines(Advice& verdict, const RuleContext& c, const ProgramFacts& program)
{
    constexpr double kMinimumLineShare = 0.2; // of the wait; chosen: at most five lines
    profiler::analysis::UnionBuilder waits;
    for (const Slice& phase : c.trace.ofKind(ActivityKind::Phase))
        if (c.trace.name(phase) == phase::kDataWait)
            waits.add(phase.range());
    const profiler::analysis::Intervals waiting = waits.take();
    SourceLines lines = sourceLines(c.trace, &waiting);
    std::ranges::stable_sort(lines.lines, std::ranges::greater(), &SourceLine::selfUs);
    for (const SourceLine& line : lines.lines) {
        const auto isTraining = [&](const SourcePlace& place) {
            return place.file == line.file && place.function == line.function;
        };
        const bool trains = std::ranges::any_of(program.objects, [&](const ProgramObject& object) {
            return object.kind == "backward" &&
                   ((object.site && isTraining(*object.site)) || std::ranges::any_of(object.chain, isTraining));
        });
        const double share = lines.sampledUs > 0 ? line.selfUs / lines.sampledUs : 0;
        if (!trains && share >= kMinimumLineShare)
            verdict.source.push_back({.file = line.file,
                                      .line = line.line,
                                      .endLine = line.line,
                                      .function = line.function,
                                      .what = shareText(share) + " of the wait"});
    }
}

/// Adds the facts about a recorded program to a rule's verdict.
void addProgram(Advice& verdict, const Rule& rule, const RuleContext& c, const ProgramFacts& program)
{
    if (auto answer = verdictOnProgram(rule.key, c, program, verdict)) {
        answer->title = std::move(verdict.title);
        verdict = *std::move(answer);
        if (verdict.state == State::Fires && !verdict.proposed)
            setToggle(verdict, c, rule.key, std::string(rule.proposes));
    }
    if (rule.key == "optimizer.fused")
        suitOptimizer(verdict, c, program);
    if (rule.key == "loader.persistent_workers")
        suitLoader(verdict, program);
    if (verdict.state != State::CannotTell && verdict.source.empty())
        verdict.source = sourcesOf(rule.key, program);
    if (rule.key == "loader.workers" && verdict.state == State::Fires)
        addLoadingLines(verdict, c, program);
}

/// Sorts findings first, by their estimated value. Stable: equal entries stay sorted by key.
void rankByImpact(std::vector<RuleAdvice>& advice, const RuleContext& c)
{
    for (RuleAdvice& row : advice)
        row.impact = usPerStep(row.advice, c);
    std::stable_sort(advice.begin(), advice.end(), [](const RuleAdvice& a, const RuleAdvice& b) {
        const int ranks = rank(a.advice.state) - rank(b.advice.state);
        return ranks != 0 ? ranks < 0 : a.impact > b.impact;
    });
}

Advice verdictOf(const Rule& rule, const RuleContext& c, const std::optional<ProgramFacts>& program)
{
    Advice verdict = rule.check(c);
    if (program)
        addProgram(verdict, rule, c, *program);
    if (verdict.title.empty())
        verdict.title = rule.title;
    if (verdict.saving && verdict.saving->ofUs == 0)
        verdict.saving->ofUs = unitUs(c, verdict.saving->unit);
    if (verdict.state == State::Fires && profiler::analysis::areInferred(c.facts.steps))
        verdict.caveats.push_back(
            profiler::message<"steps.inferred", "The trace marks no steps: figures per step refer "
                                                "to steps inferred from repeated work.">());
    dropWidePrediction(verdict, verdict.saving ? claimableUs(rule, c) : 0);
    return verdict;
}

std::vector<RuleAdvice> verdicts(const std::vector<Rule>& rules, const RuleContext& c, const std::stop_token& stop,
                                 unsigned threads)
{
    const std::optional<ProgramFacts> program = c.config ? std::nullopt : programOf(c.trace).facts;
    std::vector<RuleAdvice> advice(rules.size());
    profiler::parallelFor(rules.size(), threads, [&](std::size_t i) {
        if (!stop.stop_requested())
            advice[i] = {std::string(rules[i].key), verdictOf(rules[i], c, program)};
    });
    if (stop.stop_requested())
        return {};
    rankByImpact(advice, c); // the finding with the largest estimated value of its own claims first
    attributeTime(advice, rules, c);
    rankByImpact(advice, c); // time that others claim does not count twice
    return advice;
}

/// What a finding excludes if the trace contains several ranks.
profiler::Message rankCaveat(const profiler::analysis::AnalysedRank& rank)
{
    const auto number = std::to_string(rank.number), of = std::to_string(rank.of);
    if (rank.sharesDevices)
        return profiler::message<
            "ranks.shared", "The trace contains {of} ranks and does not show which of them launched the device work: "
                            "device work is that of all ranks, everything else that of rank {rank} ({process}).">(
            {{"of", rank.of, of}, {"rank", rank.number, number}, {"process", rank.name}});
    if (rank.chosen)
        return profiler::message<"ranks.chosen",
                                 "Based on rank {rank} ({process}), chosen from the {of} ranks in this trace.">(
            {{"rank", rank.number, number}, {"process", rank.name}, {"of", rank.of, of}});
    return profiler::message<"ranks.judged",
                             "Based on rank {rank} ({process}) of the {of} ranks in this trace: the one with the "
                             "longest steps or, without steps, with the most device work.">(
        {{"rank", rank.number, number}, {"process", rank.name}, {"of", rank.of, of}});
}

/// Verdicts on a trace, or on the rank that the facts describe.
std::vector<RuleAdvice> verdictsOn(const std::vector<Rule>& rules, const profiler::Trace& trace,
                                   const profiler::analysis::Facts& facts, const config::TrainingConfig* config,
                                   const std::stop_token& stop, unsigned threads,
                                   const profiler::analysis::JobFacts* ranks = nullptr)
{
    if (!facts.rank)
        return verdicts(rules, {trace, facts, config, nullptr, ranks}, stop, threads);
    std::vector<RuleAdvice> advice = verdicts(rules, {*facts.rank->trace, facts, config, &trace, ranks}, stop, threads);
    for (RuleAdvice& row : advice)
        if (row.advice.state == State::Fires)
            row.advice.caveats.push_back(rankCaveat(*facts.rank));
    return advice;
}

[[maybe_unused]] std::string stemOf(std::string_view key)
{
    std::string stem(key);
    std::replace(stem.begin(), stem.end(), '.', '_');
    return stem;
}

/// A value that the first caller computes, while others wait for it.
template <class T>
class Once {
public:
    template <class Make>
    const T& get(const Make& make)
    {
        std::call_once(m_made, [&] { m_value.emplace(make()); });
        return *m_value;
    }

private:
    std::once_flag m_made;
    std::optional<T> m_value;
};

} // namespace

std::vector<RuleAdvice> mergeLiveAdvice(std::vector<RuleAdvice> current, std::vector<RuleAdvice> ofLastSteps)
{
    std::vector<RuleAdvice> risen;
    for (RuleAdvice& now : ofLastSteps) {
        const auto before =
            std::find_if(current.begin(), current.end(), [&](const RuleAdvice& advice) { return advice.id == now.id; });
        const int more = before == current.end() ? 1 : strength(now.advice.state) - strength(before->advice.state);
        if (more < 0 || now.advice.state == State::CannotTell)
            continue;
        if (more == 0) {
            *before = std::move(now);
            continue;
        }
        if (before != current.end())
            current.erase(before);
        risen.push_back(std::move(now));
    }
    for (RuleAdvice& now : risen) {
        const auto place = std::find_if(current.begin(), current.end(),
                                        [&](const RuleAdvice& other) { return belongsBefore(now, other); });
        current.insert(place, std::move(now));
    }
    return current;
}

struct RuleContext::Shared {
    Once<profiler::analysis::ReplayGraph> graph;
    Once<profiler::analysis::Replayed> unchanged;
    Once<std::vector<ThreadOps>> ops;
    Once<profiler::analysis::LaunchStatistics> launches;
    Once<profiler::analysis::Intervals> between;
    Once<ProgramValues> values;
};

std::shared_ptr<RuleContext::Shared> RuleContext::makeShared()
{
    return std::make_shared<Shared>();
}

const profiler::analysis::ReplayGraph& RuleContext::replay() const
{
    return shared->graph.get([&] { return profiler::analysis::ReplayGraph::of(trace, facts.steps); });
}

const profiler::analysis::Replayed& RuleContext::unchanged() const
{
    return shared->unchanged.get([&] { return replay().replay(); });
}

const std::vector<ThreadOps>& RuleContext::ops() const
{
    return shared->ops.get([&] { return threadsOps(trace); });
}

const profiler::analysis::LaunchStatistics& RuleContext::launches() const
{
    return shared->launches.get([&] {
        return profiler::analysis::launchStatistics(trace, profiler::analysis::LaunchCalls(trace),
                                                    profiler::analysis::analysedPart(facts.steps));
    });
}

const profiler::analysis::Intervals& RuleContext::betweenLaunches() const
{
    return shared->between.get([&] { return launchingTimes(trace, facts.device.steps); });
}

const ProgramValues& RuleContext::recordedValues() const
{
    return shared->values.get([&] { return programValues(trace); });
}

std::vector<Rule> allRules()
{
    std::vector<Rule> entries;
    for (const auto& registered : rules::all()) {
        assert(registered.stem == stemOf(registered.entry.key) &&
               "a rule's file name is its key with underscores instead of dots");
        entries.push_back(registered.entry);
    }
    std::sort(entries.begin(), entries.end(), [](const Rule& a, const Rule& b) { return a.key < b.key; });
    return entries;
}

std::vector<RuleAdvice> advise(const profiler::Trace& trace, const config::TrainingConfig* config)
{
    return advise(trace, profiler::analysis::analyse(trace), config);
}

std::vector<RuleAdvice> advise(const profiler::Trace& trace, const profiler::analysis::Facts& facts,
                               const config::TrainingConfig* config, const std::stop_token& stop,
                               const profiler::analysis::JobFacts* ranks)
{
    return verdictsOn(allRules(), trace, facts, config, stop, std::thread::hardware_concurrency(), ranks);
}

std::vector<RuleAdvice> adviseOnSteps(const profiler::Trace& trace, const profiler::analysis::Facts& facts,
                                      const config::TrainingConfig* config, const std::stop_token& stop)
{
    std::vector<Rule> rules = allRules();
    std::erase_if(rules, [](const Rule& rule) { return rule.needs != Needs::Steps; });
    return verdictsOn(rules, trace, facts, config, stop, 1);
}

} // namespace advisor
