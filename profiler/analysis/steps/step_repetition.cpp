#include "profiler/analysis/steps/step_repetition.h"

#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/saturating.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/repeated_block.h"
#include "profiler/analysis/steps/step_marks.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

namespace profiler::analysis {

namespace {

/// The work of one track in order, without work that is nested in other work.
std::vector<Slice> workOf(const Trace& trace, TrackId track, ActivityKind kind)
{
    std::vector<Slice> work = sortedWhere(trace, track, [&](const SliceView& slice) {
        return slice.kind() == kind && (kind == ActivityKind::Kernel || !isProfilerStep(slice.name()));
    });
    TraceTime covered{Nanoseconds::min()};
    std::erase_if(work, [&](const Slice& slice) {
        const bool inside = kind == ActivityKind::CpuOp && slice.end() <= covered;
        covered = std::max(covered, slice.end());
        return inside;
    });
    return work;
}

/// The work of the busiest track.
std::vector<Slice> busiest(const Trace& trace, ActivityKind kind)
{
    std::optional<TrackId> most;
    Nanoseconds longest{0};
    for (const Track& track : trace.tracks()) {
        const bool fits = kind == ActivityKind::Kernel
                              ? track.kind == TrackKind::Stream
                              : track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread;
        Nanoseconds time{0};
        if (fits)
            trace.forEach(track.id, kAllTime, [&](const Slice& slice) {
                if (slice.kind == kind)
                    addSaturating(time, slice.duration);
                return true;
            });
        if (time > longest) {
            longest = time;
            most = track.id;
        }
    }
    return most ? workOf(trace, *most, kind) : std::vector<Slice>();
}

std::vector<bool> optimizerWork(const Trace& trace, const std::vector<Slice>& work)
{
    std::vector<signed char> known(trace.stringCount(), -1);
    std::vector<bool> result;
    result.reserve(work.size());
    for (const Slice& slice : work) {
        signed char& answer = known[slice.name.value];
        if (answer < 0) {
            const std::string_view name = trace.name(slice);
            answer = slice.kind == ActivityKind::Kernel
                         ? kernelClass(name) == KernelClass::Optimizer
                         : name.starts_with("aten::_foreach_") || name.starts_with("aten::_fused_");
        }
        result.push_back(answer != 0);
    }
    return result;
}

/// The host call that launched the work, or the work itself.
Slice launchOf(const Trace& trace, const Slice& work)
{
    for (const Flow& flow : trace.flowsOf(work.id))
        if (flow.kind == FlowKind::Launch && flow.to == work.id)
            return trace.slice(flow.from);
    return work;
}

bool contains(std::string_view name, std::initializer_list<std::string_view> words)
{
    return std::any_of(words.begin(), words.end(), [&](auto word) { return name.find(word) != name.npos; });
}

bool isOfBackward(std::string_view name)
{
    return contains(name, {"Backward", "backward", "grad", "bwd", "bprop"});
}

/// Marks the last work that starts before each of the times.
void markBefore(const std::vector<TraceTime>& begins, std::vector<TraceTime> times, std::vector<bool>& marks)
{
    std::sort(times.begin(), times.end());
    std::size_t at = 0;
    for (const TraceTime time : times) {
        while (at + 1 < begins.size() && begins[at + 1] <= time)
            ++at;
        if (!begins.empty())
            marks[at] = true;
    }
}

/// Marks the last work that was launched before the start of each matching host slice.
void markCalls(const Trace& trace, const std::vector<Slice>& work, bool (*fits)(std::string_view name),
               std::vector<bool>& marks)
{
    NameAnswers wanted(trace, fits);
    std::vector<TraceTime> calls, launches;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread)
            forEachView(trace, track.id, [&](const SliceView& slice) {
                if (wanted(slice.nameId()))
                    calls.push_back(slice.begin());
            });
    if (calls.empty())
        return;
    for (const Slice& slice : work) { // the launch may be unknown; work is in order
        const TraceTime at = launchOf(trace, slice).begin;
        launches.push_back(launches.empty() ? at : std::max(at, launches.back()));
    }
    markBefore(launches, std::move(calls), marks);
}

/// Marks the work of backward passes, by its name or by the operator that launched it.
std::vector<bool> backwardWork(const Trace& trace, const std::vector<Slice>& work)
{
    NameAnswers backward(trace, isOfBackward);
    std::vector<bool> result;
    for (const Slice& slice : work)
        result.push_back(backward(slice.name));
    markCalls(
        trace, work,
        [](std::string_view name) { return contains(name, {"autograd::engine::evaluate"}) || name == "backward"; },
        result);
    return result;
}

// Copies below this size are scalars, shapes or seeds, which layers need as well: 32 numbers of 8 bytes. Chosen: in
// recordings of inference on two devices, each layer copies 8 bytes. Batches of samples are larger; a training with
// smaller ones is recognised by its backward pass or its optimizer.
constexpr std::int64_t kLeastBatchBytes = 256;

/// True for a copy that may transfer a batch. Some recordings contain no sizes.
bool mayBringABatch(const Slice& copy)
{
    return copy.args.copy == CopyKind::HtoD && (copy.args.bytes >= kLeastBatchBytes || copy.args.bytes <= 0);
}

/// Marks what steps have and layers do not: the copy of a batch, a request to the data loader, or an optimizer.
void markWhatStepsHave(const Trace& trace, const std::vector<Slice>& work, std::vector<bool>& marks)
{
    std::vector<TraceTime> begins, copies;
    for (const Slice& slice : work)
        begins.push_back(slice.begin);
    const DeviceId device = trace.track(work.front().id.track).device;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream && track.device == device)
            forEachView(trace, track.id, [&](const SliceView& slice) {
                if (slice.kind() == ActivityKind::GpuMemcpy && mayBringABatch(slice.slice()))
                    copies.push_back(slice.begin());
            });
    markBefore(begins, std::move(copies), marks);
    markCalls(
        trace, work,
        [](std::string_view name) {
            return contains(name, {"DataLoader", "Optimizer.step", "Optimizer.zero_grad"}) || name == "data wait" ||
                   name == "optimizer";
        },
        marks);
}

/// True if four of five blocks contain marks. The last block may lack what comes before its first work.
bool holdMarks(const RepeatedBlock& block, const std::vector<bool>& marks)
{
    constexpr double kMost = 0.8;
    std::size_t with = 0;
    for (std::size_t b = 0; b < block.begins.size(); ++b) {
        const std::size_t end =
            b + 1 < block.begins.size() ? block.begins[b + 1] : std::min(block.begins[b] + block.length, marks.size());
        const auto at = [&](std::size_t i) { return marks.begin() + static_cast<std::ptrdiff_t>(i); };
        with += std::find(at(block.begins[b]), at(end), true) != at(end) ? 1 : 0;
    }
    return static_cast<double>(with) >= kMost * static_cast<double>(block.begins.size() - 1);
}

/// True if little work precedes the first block. If the layers of one backward pass repeat, the whole forward pass
/// precedes the first block.
bool beginsEarly(const RepeatedBlock& block, std::size_t works)
{
    constexpr double kForward = 0.25;
    return block.begins.front() <= 2 * block.length ||
           static_cast<double>(block.begins.front()) <= kForward * static_cast<double>(works);
}

/// More steps than this are implausible for a recorded training, and each costs a query of the trace.
constexpr std::size_t kMostSteps = 200'000;

bool isOneName(std::span<const std::uint32_t> names, const RepeatedBlock& block)
{
    const auto first = names.subspan(block.begins[0], block.begins[1] - block.begins[0]);
    return std::all_of(first.begin(), first.end(), [&](std::uint32_t name) { return name == first.front(); });
}

std::vector<Step> stepsOf(const Trace& trace, const std::vector<Slice>& work, const RepeatedBlock& block)
{
    std::vector<Step> steps;
    for (const std::size_t begin : block.begins) {
        const Slice first = launchOf(trace, work[begin]);
        if (!steps.empty())
            steps.back().range.end = first.begin;
        Step step{.index = static_cast<std::int64_t>(steps.size()) + 1,
                  .range = first.range(),
                  .slice = first.id,
                  .parts = {}};
        step.found = true;
        steps.push_back(step);
    }
    const std::size_t after = block.begins.back() + block.length;
    steps.back().range.end = launchOf(trace, work[std::min(after, work.size()) - 1]).end();
    steps.back().partial = after > work.size();
    return steps;
}

} // namespace

RepeatedSteps repeatedSteps(const Trace& trace)
{
    const auto none = [](Message why) { return RepeatedSteps{.steps = {}, .confidence = 0, .whyNot = std::move(why)}; };
    std::vector<Slice> work = busiest(trace, ActivityKind::Kernel);
    const bool kernels = !work.empty();
    if (!kernels)
        work = busiest(trace, ActivityKind::CpuOp);
    const MessageParameter unit("work", kernels ? "kernel" : "operator");
    if (work.empty())
        return none(message<"steps.no_work",
                            "The trace has neither kernels nor operators from which steps could be inferred.">());
    std::vector<std::uint32_t> names;
    names.reserve(work.size());
    for (const Slice& slice : work)
        names.push_back(slice.name.value);
    const std::vector<bool> optimizer = optimizerWork(trace, work);
    auto block = repeatedBlock(names, optimizer);
    if (!block)
        return none(
            message<"steps.rare",
                    "No sequence of {work}s repeats regularly at least three times, so no training steps can be "
                    "inferred.">({unit}));
    if (isOneName(names, *block))
        return none(message<"steps.one_name", "Only a single {work} repeats, which does not show where a step starts.">(
            {unit}));
    if (block->begins.size() > kMostSteps)
        return none(message<"steps.too_many",
                            "The repeating sequence occurs {times} times, which is too often for training steps.">(
            {{"times", block->begins.size()}}));
    if (!holdMarks(*block, optimizer)) {
        std::vector<bool> marks = optimizer;
        markWhatStepsHave(trace, work, marks);
        const bool any = std::find(marks.begin(), marks.end(), true) != marks.end();
        if (!any || !holdMarks(*block, marks)) {
            auto longer = any ? repeatedBlock(names, marks) : std::nullopt;
            if (longer && !isOneName(names, *longer) && holdMarks(*longer, marks))
                block = std::move(longer);
            else if (!beginsEarly(*block, work.size()) || !holdMarks(*block, backwardWork(trace, work)))
                return none(message<"steps.maybe_layers",
                                    "The sequence that repeats {times} times contains no batch copy, no backward "
                                    "pass and no optimizer, so it may be the layers of one step.">(
                    {{"times", block->begins.size()}}));
        }
    }
    std::vector<Step> steps = stepsOf(trace, work, *block);
    // Possible if several threads launch the work, or if the clock goes backwards.
    if (!std::is_sorted(steps.begin(), steps.end(),
                        [](const Step& a, const Step& b) { return a.range.begin < b.range.begin; }))
        return none(
            message<"steps.out_of_order", "The repeating sequence was not launched in the order in which it ran.">());
    return {.steps = withParts(trace, std::move(steps)), .confidence = block->share, .whyNot = {}};
}

RepeatedSteps detectSteps(const Trace& trace)
{
    std::vector<Step> marked = findSteps(trace);
    return marked.empty() ? repeatedSteps(trace)
                          : RepeatedSteps{.steps = std::move(marked), .confidence = 1, .whyNot = {}};
}

bool areInferred(const std::vector<Step>& steps)
{
    return !steps.empty() && steps.front().found;
}

} // namespace profiler::analysis
