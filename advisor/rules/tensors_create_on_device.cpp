#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_map>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "tensors.create_on_device";
// Minimum share of the step spent on such copies and the fills before them.
constexpr double kMinimumShare = 0.005;
// At most a reshape and a cast run between the fill and the copy.
constexpr std::size_t kBetween = 2;
// Bytes per nanosecond; no host writes memory faster than this: a fill that would have had to be faster did not fill
// the copied tensor.
constexpr double kFastestFill = 100;

bool makesATensor(std::string_view op)
{
    constexpr std::array<std::string_view, 12> kOps = {
        "aten::zeros",   "aten::ones", "aten::full",    "aten::arange",   "aten::rand",       "aten::randn",
        "aten::randint", "aten::eye",  "aten::normal_", "aten::uniform_", "aten::bernoulli_", "aten::linspace"};
    return std::any_of(kOps.begin(), kOps.end(), [&](std::string_view name) {
        return op == name || op.starts_with(std::string(name) + "_like");
    });
}

bool movesATensor(std::string_view op)
{
    return op == "aten::to" || op == "aten::_to_copy" || op == "aten::copy_" || op == "aten::cuda";
}

struct Found {
    std::int64_t count = 0;
    Nanoseconds time{}; ///< of the fill, the copy and its operator, without the calls that wait for the device
    std::vector<SliceId> copies;
    SliceSet fills, moves; ///< operators
};

/// Host-to-device copies by the correlation id of their call.
std::unordered_map<std::uint64_t, SliceId> copiesByCorrelation(const RuleContext& c)
{
    std::unordered_map<std::uint64_t, SliceId> copies;
    for (const Slice& copy : c.facts.device.copies)
        if (copy.args.copy == CopyKind::HtoD && copy.correlation.value != 0)
            copies.emplace(copy.correlation.value, copy.id);
    return copies;
}

/// Time of an operator's calls without those that wait: a copy from pageable memory waits for all pending device work,
/// and the first call of a program waits for device initialization. Creating the tensor on the device would only move
/// such a wait to another place.
Nanoseconds timeOfCalls(const std::vector<SliceBrief>& calls, const SliceBrief& op)
{
    Nanoseconds time{};
    const auto first = std::lower_bound(calls.begin(), calls.end(), op.begin,
                                        [](const SliceBrief& call, TraceTime begin) { return call.begin < begin; });
    for (auto call = first; call != calls.end() && call->begin < op.end(); ++call)
        time += call->duration;
    return std::min(time, op.duration);
}

void searchThread(const Trace& trace, TrackId track, const std::vector<SliceBrief>& outermost,
                  const std::unordered_map<std::uint64_t, SliceId>& copies, Found& found)
{
    const auto isCall = [](const SliceView& slice) {
        const ActivityKind kind = slice.kind();
        return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
    };
    const auto launchesACopy = [&](const SliceView& slice) {
        return isCall(slice) && copies.contains(slice.correlation().value);
    };
    std::size_t op = 0;
    const std::vector<SliceBrief> calls = briefsWhere(trace, track, isCall);
    for (const Slice& call : sortedWhere(trace, track, launchesACopy)) {
        const SliceId copy = copies.at(call.correlation.value);
        while (op < outermost.size() && outermost[op].end() <= call.begin)
            ++op;
        if (op == outermost.size() || outermost[op].begin > call.begin ||
            !movesATensor(trace.string(outermost[op].name)))
            continue;
        const Slice copied = trace.slice(copy);
        const auto bytes = static_cast<double>(copied.args.bytes);
        for (std::size_t back = 1; back <= kBetween + 1 && back <= op; ++back)
            if (const SliceBrief& fill = outermost[op - back];
                makesATensor(trace.string(fill.name)) &&
                bytes <= kFastestFill * static_cast<double>(fill.duration.count())) {
                ++found.count;
                found.time +=
                    fill.duration + copied.duration + outermost[op].duration - timeOfCalls(calls, outermost[op]);
                found.copies.push_back(copy);
                found.fills.insert(fill.id);
                found.moves.insert(outermost[op].id);
                break;
            }
    }
}

/// The device needs one launch for a fill, just as it needs one call for a copy. Lower bound: the host's fill
/// disappears and the call takes as long as before. Upper bound: the copy disappears as well, with its call and the
/// wait.
std::optional<Saving> saving(const RuleContext& c, const Found& found)
{
    SliceSet cut = found.fills;
    cut.insert(found.moves.begin(), found.moves.end());
    const ChosenWork filling(c.trace, found.fills), moving(c.trace, found.moves);
    return savingByReplay(
        c, cut, [&](const ReplayWork& work) { return ReplayChange{.factor = filling.onHost(work) ? 0.0 : 1.0}; },
        [&](const ReplayWork& work) {
            const bool moves = moving.onHost(work) || moving.onDevice(work);
            return ReplayChange{.factor = moves || filling.onHost(work) ? 0.0 : 1.0, .waits = !moving.onHost(work)};
        });
}

Advice check(const RuleContext& c)
{
    if (setting(c, kKey) == "true")
        return silent(message<"tensors.create_on_device.on", "Tensors are already created on the device.">());
    if (auto advice = withoutDeviceWork(
            c, message<"tensors.create_on_device.cpu",
                       "The run used only the CPU: tensors are created on the device that uses them.">()))
        return *advice;
    const auto copies = copiesByCorrelation(c);
    if (std::none_of(c.facts.device.copies.begin(), c.facts.device.copies.end(),
                     [](const Slice& copy) { return copy.args.copy == CopyKind::HtoD; }))
        return silent(message<"copies.no_host_to_device", "The trace contains no host-to-device copies.">());
    if (copies.empty() || !profiler::analysis::hasKind(c.trace, ActivityKind::CpuOp) ||
        !profiler::analysis::hasKind(c.trace, ActivityKind::CudaRuntime))
        return cannotTell(
            message<"tensors.create_on_device.not_recorded",
                    "The trace does not contain both operators and the runtime calls that launch copies.">(),
            Need::KernelsAndHost);
    Found found;
    for (const auto& [track, ops] : c.ops())
        searchThread(c.trace, track, ops, copies, found);
    const double share =
        static_cast<double>(found.time.count()) / static_cast<double>(c.facts.device.windowTime().count());
    if (found.count == 0)
        return silent(
            message<"tensors.create_on_device.none", "No tensor is filled on the host and then copied to a device.">());
    if (share < kMinimumShare)
        return silent(message<"tensors.create_on_device.small",
                              "Copies of tensors filled on the host take only {share} of the time.">(
            {{"share", share, shareText(share)}}));
    Advice advice =
        fires(message<"tensors.create_on_device.filled",
                      "{tensors} tensors are filled on the host and then copied to the device: {share} of the time.">(
            {{"tensors", found.count, countText(found.count)}, {"share", share, shareText(share)}}));
    advice.timeShare = share;
    const double us = c.facts.device.meanUsPerStep(found.time);
    if (c.facts.device.steps.empty())
        advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    else if (!(advice.saving = saving(c, found)))
        advice.whyNoPrediction =
            message<"tensors.create_on_device.at_most", "It saves at most {time} per step: measure it.">(
                {{"time", us, timeText(us)}});
    advice.caveats = {message<"tensors.create_on_device.random_numbers",
                              "The random number generators of the host and the device produce different numbers.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, found.copies);
    return advice;
}

} // namespace

Rule tensors_create_on_device()
{
    return {kKey, "Tensors are filled on the host, then copied", check, Needs::Steps, TimePart::Copy | kHostWork};
}

} // namespace advisor::rules
