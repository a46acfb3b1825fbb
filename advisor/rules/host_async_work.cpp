#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "host.async_work";
using namespace profiler;
using namespace profiler::analysis;

// Minimum share of the step: below it, another thread is not worthwhile.
constexpr double kMinimumShare = 0.01;

bool isFileWork(std::string_view phase)
{
    return phase == phase::kLog || phase == phase::kCheckpoint;
}

/// Each steady step, extended to the start of the next step, because files are also written between steps. Sorted by
/// start.
std::vector<TimeRange> steadyTurns(const std::vector<Step>& steps)
{
    std::vector<TimeRange> turns;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!isSteady(steps[i]))
            continue;
        TimeRange turn = steps[i].range;
        if (i + 1 < steps.size())
            turn.end = std::max(turn.end, steps[i + 1].range.begin);
        turns.push_back(turn);
    }
    return turns;
}

/// Log and checkpoint phases in and after steady steps, longest first.
std::vector<Slice> fileWork(const RuleContext& c)
{
    std::vector<Slice> found;
    const Intervals within = unite(steadyTurns(c.facts.steps));
    for (const Slice& slice : c.trace.ofKind(ActivityKind::Phase))
        if (isFileWork(c.trace.name(slice)) && !overlapping(within, slice.range()).empty())
            found.push_back(slice);
    std::stable_sort(found.begin(), found.end(),
                     [](const Slice& a, const Slice& b) { return a.duration > b.duration; });
    return found;
}

/// Mean time in µs from the start of a steady step to the start of the next step.
double turnUs(const RuleContext& c)
{
    return toUs(total(unite(steadyTurns(c.facts.steps)))) / static_cast<double>(c.facts.statistics.steadyCount);
}

/// µs of this work in each extended steady step.
std::vector<double> workInEachTurn(const RuleContext& c, const std::vector<Slice>& work)
{
    const std::vector<TimeRange> turns = steadyTurns(c.facts.steps);
    std::vector<double> us(turns.size());
    for (const Slice& slice : work) {
        const auto after = std::upper_bound(turns.begin(), turns.end(), slice.begin,
                                            [](TraceTime time, const TimeRange& turn) { return time < turn.begin; });
        if (after != turns.begin())
            us[static_cast<std::size_t>(after - turns.begin()) - 1] += toUs(slice.duration);
    }
    return us;
}

/// Mean time in µs per steady step of the work outside of the steps.
double betweenStepsUs(const RuleContext& c, const std::vector<Slice>& work)
{
    std::vector<TimeRange> steps, files;
    for (const Step& step : c.facts.steps)
        steps.push_back(step.range);
    for (const Slice& slice : work)
        files.push_back(slice.range());
    return toUs(total(subtract(unite(std::move(files)), unite(std::move(steps))))) /
           static_cast<double>(c.facts.statistics.steadyCount);
}

/// Upper bound: the step saves all time spent writing files and, with a configuration, the time spent reading metrics,
/// which also moves to the other thread. Lower bound: only work that certainly runs in parallel; nothing if the step
/// needs all cores, and nothing for a checkpoint, because its weights are copied first. The duration of the work in the
/// other thread is not a limit, because that thread writes files faster than a step that waits for them.
std::optional<Saving> saving(const RuleContext& c, const std::vector<Slice>& files, bool checkpoints)
{
    const int cores = c.facts.input.cores;
    const bool hasFreeCore = cores > 0 && computeThreads(c) < cores;
    if (!hasDeviceWork(c.trace)) {
        std::vector<double> most = workInEachTurn(c, files), least(most.size());
        if (hasFreeCore && !checkpoints)
            least = most;
        const double metrics = c.config ? toUs(c.facts.statistics.steadyMeanParts.metrics) : 0;
        // After a checkpoint, the next step reads again what writing displaced from the caches. Measured: 1.2 times the
        // work was saved; chosen: at most twice.
        const double displaced = checkpoints ? 2 : 1;
        for (double& us : most)
            us = displaced * us + metrics;
        const double turn = turnUs(c);
        Saving saved = limited(checkpoints ? upperBoundOverSteps(most) : meanOverSteps(least, most), turn);
        saved.ofUs = turn;
        return saved;
    }
    // Copies from the device remain in the step.
    const auto to = [](double log, double checkpoint) {
        return [log, checkpoint](const ReplayWork& work) {
            const bool calls = work.kind == ActivityKind::CudaRuntime || work.kind == ActivityKind::CudaDriver;
            const bool goes = work.where == ReplayWork::Where::Host && isFileWork(work.phase) && !work.waits &&
                              !(calls && work.phase == phase::kCheckpoint);
            return ReplayChange{.factor = !goes ? 1 : work.phase == phase::kLog ? log : checkpoint};
        };
    };
    return savingByReplay(c, to(hasFreeCore ? 0 : 1, 1), to(0, 0));
}

Advice check(const RuleContext& c)
{
    if (setting(c, kKey) == "true")
        return silent(message<"host.async_work.on", "Logs and checkpoints are already written on another thread.">());
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const std::vector<Slice> work = fileWork(c);
    if (work.empty())
        return c.config ? silent(message<"host.async_work.no_files", "No step writes a log or a checkpoint.">())
                        : cannotTell(message<"host.async_work.not_recorded",
                                             "The trace does not mark what the program does besides training.">(),
                                     Need::Program);
    Nanoseconds time{0};
    bool checkpoints = false;
    for (const Slice& slice : work) {
        time += slice.duration;
        checkpoints = checkpoints || c.trace.name(slice) == phase::kCheckpoint;
    }
    const double us = toUs(time) / static_cast<double>(c.facts.statistics.steadyCount);
    const double share = us / c.facts.statistics.steadyMeanUs;
    if (share < kMinimumShare)
        return silent(message<"host.async_work.small", "Writing files takes only {share} of a step.">(
            {{"share", share, shareText(share)}}));
    Advice advice = fires(
        message<"host.async_work.writes", "Each step spends {time} ({share}) writing files before the next step "
                                          "starts.">({{"time", us, timeText(us)}, {"share", share, shareText(share)}}));
    advice.timeShare = std::min(1.0, us / turnUs(c));
    advice.saving = saving(c, work, checkpoints);
    advice.betweenStepsUs = betweenStepsUs(c, work);
    if (!advice.saving || advice.saving->high <= 0) {
        advice.whyNoPrediction =
            advice.saving
                ? message<"host.async_work.no_time",
                          "Writing takes as long as the rest of the step: another thread would not finish sooner.">()
                : message<"host.async_work.overlap_unknown",
                          "The trace does not record how much of this time overlaps with device work.">();
        advice.saving.reset();
    }
    advice.caveats = {message<"host.async_work.late_errors",
                              "Writes keep their order; their errors arrive later and must be reported.">(),
                      message<"host.async_work.copy",
                              "A checkpoint is copied first, which needs memory for a second copy of the weights.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, work);
    return advice;
}

} // namespace

Rule host_async_work()
{
    return proposing("true", {kKey, "The step waits for file writes", check, Needs::Run,
                              TimePart::Sync | TimePart::Copy | kHostWork});
}

} // namespace advisor::rules
