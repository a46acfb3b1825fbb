#include "advisor/prediction/replay_saving.h"

#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/model/message.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

bool isHost(const Track& track)
{
    return track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread;
}

bool isCallOrWait(ActivityKind kind)
{
    return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver || kind == ActivityKind::Sync;
}

std::optional<Saving> savingIn(const RuleContext& c, const ReplayGraph& graph,
                               const std::function<Replayed()>& unchanged, const WhatIf& least, const WhatIf& most)
{
    if (hasDeviceWork(c.trace) && graph.linkedShare() < kLinkedForReplay)
        return std::nullopt;
    const Replayed before = unchanged();
    return meanOverSteps(savedPerStep(c.facts.steps, before, graph.replay(least)),
                         savedPerStep(c.facts.steps, before, graph.replay(most)));
}

/// The remaining share of a kernel's duration.
using Left = std::function<double(StringId name, SliceId slice)>;

/// Time in which any device runs such a kernel, weighted by the share that disappears; kernels that begin in the
/// analysis window.
Nanoseconds goingTime(const RuleContext& c, const Left& left)
{
    std::vector<std::pair<double, UnionBuilder>> by; // by the share that disappears: hardly ever more than two
                                                     // different shares
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachViewOf(c.trace, track.id, ActivityKind::Kernel, [&](const SliceView& kernel) {
                const double goes = 1 - left(kernel.nameId(), kernel.id());
                if (goes <= 0 || !beginsWithin(kernel.begin(), c.facts.device.window))
                    return;
                auto row = std::find_if(by.begin(), by.end(), [goes](const auto& r) { return r.first == goes; });
                if (row == by.end())
                    row = by.insert(row, {goes, UnionBuilder()});
                row->second.add(kernel.range());
            });
    double ns = 0;
    for (auto& [goes, builder] : by)
        ns += goes * static_cast<double>(total(builder.take()).count());
    return Nanoseconds{static_cast<std::int64_t>(ns)};
}

KernelBound boundBy(const RuleContext& c, const Left& left)
{
    KernelBound bound;
    const DeviceFacts& device = c.facts.device;
    const Nanoseconds own = goingTime(c, left);
    const double window = toUs(device.windowTime());
    bound.busyShare = window > 0 ? std::min(1.0, toUs(own) / window) : 0;
    bound.share = bound.busyShare;
    bound.usPerStep = device.steps.empty() ? 0 : device.usPerStep(own);
    if (own.count() == 0 || c.replay().linkedShare() < kLinkedForReplay)
        return bound;
    const Replayed& before = c.unchanged();
    const Replayed after = c.replay().replay([&](const ReplayWork& work) {
        const bool kernel = work.where == ReplayWork::Where::Device && work.kind == ActivityKind::Kernel;
        return ReplayChange{.factor = kernel ? left(work.name, work.slice) : 1};
    });
    bound.replayed = true;
    if (device.steps.empty()) {
        const double all = toUs(before.duration);
        bound.share = all > 0 ? std::min(bound.share, toUs(before.duration - after.duration) / all) : 0;
        return bound;
    }
    std::vector<double> saved = savedPerStep(c.facts.steps, before, after);
    if (saved.empty()) // without steady steps, all steps are used
        for (std::size_t i = 0; i < std::min(before.stepUs.size(), after.stepUs.size()); ++i)
            saved.push_back(before.stepUs[i] - after.stepUs[i]);
    bound.usPerStep = std::clamp(upperBoundOverSteps(saved).high, 0.0, bound.usPerStep);
    bound.share = window > 0 ? std::min(1.0, bound.usPerStep / device.usPerStep(device.windowTime())) : 0;
    return bound;
}

} // namespace

ChosenWork::ChosenWork(const Trace& trace, const SliceSet& chosen) : m_host(chosen)
{
    std::unordered_set<std::uint64_t> launched; // correlation ids
    for (const Track& track : trace.tracks()) {
        if (!isHost(track))
            continue;
        std::vector<TimeRange> ranges;
        forEachView(trace, track.id, [&](const SliceView& slice) {
            if (chosen.contains(slice.id()))
                ranges.push_back(slice.range());
        });
        if (ranges.empty())
            continue;
        const Intervals within = unite(std::move(ranges));
        forEachView(trace, track.id, [&](const SliceView& slice) {
            if (!isCallOrWait(slice.kind()) || !beginsWithin(slice.begin(), within))
                return;
            m_host.insert(slice.id());
            if (slice.kind() != ActivityKind::Sync && slice.correlation().value != 0)
                launched.insert(slice.correlation().value);
        });
    }
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream && !launched.empty())
            forEachView(trace, track.id, [&](const SliceView& slice) {
                if (isDeviceWork(slice.kind()) && launched.contains(slice.correlation().value))
                    m_device.insert(slice.id());
            });
}

bool ChosenWork::onHost(const ReplayWork& work) const
{
    // A piece without a slice has the kind Other.
    return work.where == ReplayWork::Where::Host && work.kind != ActivityKind::Other && m_host.contains(work.slice);
}

bool ChosenWork::onDevice(const ReplayWork& work) const
{
    return work.where == ReplayWork::Where::Device && m_device.contains(work.slice);
}

SliceSet operatorsIn(const Trace& trace, bool (*fits)(std::string_view name), std::string_view phase)
{
    std::vector<TimeRange> ranges;
    const Phases phases(trace);
    for (const Track& track : trace.tracks())
        if (isHost(track) && !phase.empty())
            forEachView(trace, track.id, [&](const SliceView& slice) {
                if (phases.of(slice) == phase)
                    ranges.push_back(slice.range());
            });
    const Intervals within = unite(std::move(ranges));
    NameAnswers answers(trace, fits);
    SliceSet found;
    for (const Track& track : trace.tracks())
        if (isHost(track))
            forEachViewOf(trace, track.id, ActivityKind::CpuOp, [&](const SliceView& slice) {
                if (answers(slice.nameId()) && (phase.empty() || beginsWithin(slice.begin(), within)))
                    found.insert(slice.id());
            });
    return found;
}

std::optional<Saving> savingByReplay(const RuleContext& c, const WhatIf& least, const WhatIf& most)
{
    if (c.facts.statistics.steadyCount == 0)
        return std::nullopt;
    return savingIn(
        c, c.replay(), [&] { return c.unchanged(); }, least, most);
}

std::optional<Saving> boundByReplay(const RuleContext& c, const WhatIf& most)
{
    if (c.facts.statistics.steadyCount == 0 || (hasDeviceWork(c.trace) && c.replay().linkedShare() < kLinkedForReplay))
        return std::nullopt;
    const Saving bound = upperBoundOverSteps(savedPerStep(c.facts.steps, c.unchanged(), c.replay().replay(most)));
    return upperBound(SavingUnit::UsPerStep, std::max(0.0, bound.high));
}

std::optional<Saving> savingByReplay(const RuleContext& c, const SliceSet& cut, const WhatIf& least, const WhatIf& most)
{
    if (c.facts.statistics.steadyCount == 0)
        return std::nullopt;
    const auto graph = ReplayGraph::of(
        c.trace, c.facts.steps, [&](const profiler::analysis::SliceView& slice) { return cut.contains(slice.id()); });
    return savingIn(
        c, graph, [&] { return graph.replay(); }, least, most);
}

KernelBound boundByKernels(const RuleContext& c, const std::function<double(std::string_view kernel)>& left)
{
    NameAnswers answers(c.trace, left);
    return boundBy(c, [&](StringId name, SliceId) { return answers(name); });
}

KernelBound boundByKernels(const RuleContext& c, const SliceSet& kernels)
{
    return boundBy(c, [&](StringId, SliceId slice) { return kernels.contains(slice) ? 0.0 : 1.0; });
}

bool isFullPrecisionProduct(std::string_view kernel)
{
    return isProduct(kernelClass(kernel)) && kernelPrecision(kernel) == Precision::Fp32 && !usesTensorCores(kernel);
}

Advice offTheCriticalPath(const KernelBound& bound)
{
    return silent(
        message<"kernels.off_critical_path", "Faster kernels would save at most {share} of the time: these kernels run "
                                             "{busy} of the time, and the step mostly waits for something else.">(
            {{"share", bound.share, shareText(bound.share)}, {"busy", bound.busyShare, shareText(bound.busyShare)}}));
}

void setBound(Advice& advice, const RuleContext& c, const KernelBound& bound)
{
    constexpr double kLeastUs = 0.01; // smaller savings are printed as zero
    advice.timeShare = bound.share;
    if (c.facts.device.steps.empty())
        advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    else if (bound.usPerStep >= kLeastUs)
        advice.saving = upperBound(SavingUnit::UsPerStep, bound.usPerStep);
    else
        advice.whyNoPrediction =
            message<"kernels.hidden", "These kernels run {busy} of the time, but the step waits for something else at "
                                      "the same time: faster kernels would save nothing now.">(
                {{"busy", bound.busyShare, shareText(bound.busyShare)}});
}

} // namespace advisor
