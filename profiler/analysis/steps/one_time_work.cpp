#include "profiler/analysis/steps/one_time_work.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <array>
#include <optional>

namespace profiler::analysis {

namespace {

// Work is one-time work if it takes less in the second half of the window than this share of its time in the first
// half. Chosen: caches still grow a little later on, and recurring work takes about as long in both halves.
constexpr double kMostLater = 0.1;
// Launches and convolutions are one-time work only if a single call is this slow. Chosen: a launch takes microseconds;
// creating a context, loading a module or searching for algorithms takes tens of milliseconds.
constexpr Nanoseconds kSlowCall = std::chrono::milliseconds(10);
// In addition, every later call must be shorter by this factor, because a full launch queue also blocks later launches.
constexpr std::int64_t kTimesLater = 10;
constexpr std::size_t kMostListed = 10;
constexpr std::size_t kKinds = 5;

bool isLaunch(std::string_view name)
{
    return name.find("LaunchKernel") != name.npos || name.find("GraphLaunch") != name.npos;
}

bool isTunedConvolution(std::string_view name)
{
    return name.starts_with("aten::cudnn_convolution") || name.starts_with("aten::miopen_convolution");
}

std::optional<OneTimeKind> kindOf(std::string_view name)
{
    if (isCodeLoading(name))
        return OneTimeKind::CodeLoading;
    if (name.ends_with("(dynamo_timed)")) // PyTorch's ranges around the parts of a compilation
        return OneTimeKind::Compilation;
    if (isLaunch(name))
        return OneTimeKind::FirstLaunch;
    if (isTunedConvolution(name))
        return OneTimeKind::Autotuning;
    if (name.starts_with("aten::")) // "aten::FreeXyz" is not a driver call
        return std::nullopt;
    return isAllocation(name) ? std::optional(OneTimeKind::Allocation) : std::nullopt;
}

bool judgesSingleCalls(OneTimeKind kind)
{
    return kind == OneTimeKind::FirstLaunch || kind == OneTimeKind::Autotuning;
}

struct Call {
    TimeRange range;
    SliceId slice;
};

/// The calls of one kind in the two halves of the window.
struct Halves {
    std::vector<Call> first;
    Nanoseconds later{}, longestLater{};
};

std::array<Halves, kKinds> callsIn(const Trace& trace, TimeRange window)
{
    constexpr std::array kKindsOfSlices = {ActivityKind::CudaRuntime, ActivityKind::CudaDriver, ActivityKind::Overhead,
                                           ActivityKind::UserAnnotation, ActivityKind::CpuOp};
    std::array<Halves, kKinds> calls;
    NameAnswers kinds(trace, kindOf);
    const TraceTime middle = window.begin + window.duration() / 2;
    const bool operators = anyName(trace, isTunedConvolution);
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
            continue;
        for (const ActivityKind sliceKind : kKindsOfSlices) {
            if (sliceKind == ActivityKind::CpuOp && !operators)
                continue;
            forEachViewOf(trace, track.id, sliceKind, [&](const SliceView& view) {
                const auto kind = kinds(view.nameId());
                if (!kind || view.begin() < window.begin || view.begin() >= window.end)
                    return;
                Halves& halves = calls[static_cast<std::size_t>(*kind)];
                if (view.begin() >= middle) {
                    halves.later += view.duration();
                    halves.longestLater = std::max(halves.longestLater, view.duration());
                } else if (!judgesSingleCalls(*kind) || view.duration() >= kSlowCall) {
                    halves.first.push_back({{view.begin(), view.begin() + view.duration()}, view.id()});
                }
            });
        }
    }
    return calls;
}

/// The calls of the first half that do not recur.
std::vector<Call> oneTimeCalls(OneTimeKind kind, Halves halves)
{
    if (judgesSingleCalls(kind)) {
        std::erase_if(halves.first,
                      [&](const Call& call) { return call.range.duration() < kTimesLater * halves.longestLater; });
        return std::move(halves.first);
    }
    Nanoseconds sum{};
    for (const Call& call : halves.first)
        sum += call.range.duration();
    if (toUs(halves.later) >= kMostLater * toUs(sum))
        halves.first.clear();
    return std::move(halves.first);
}

} // namespace

std::string_view oneTimeText(OneTimeKind kind)
{
    switch (kind) {
    case OneTimeKind::CodeLoading:
        return "loading kernel code";
    case OneTimeKind::Allocation:
        return "allocating memory";
    case OneTimeKind::Compilation:
        return "compiling";
    case OneTimeKind::FirstLaunch:
        return "first launches";
    case OneTimeKind::Autotuning:
        return "autotuning convolutions";
    }
    return {};
}

std::vector<OneTimePart> oneTimeWork(const Trace& trace, TimeRange window)
{
    std::vector<OneTimePart> parts;
    std::array<Halves, kKinds> calls = callsIn(trace, window);
    Intervals taken;
    for (std::size_t i = 0; i < kKinds; ++i) { // kinds are ordered from most to least specific
        const auto kind = static_cast<OneTimeKind>(i);
        std::vector<Call> found = oneTimeCalls(kind, std::move(calls[i]));
        std::stable_sort(found.begin(), found.end(),
                         [](const Call& a, const Call& b) { return a.range.duration() > b.range.duration(); });
        OneTimePart part;
        part.kind = kind;
        part.calls = static_cast<std::int64_t>(found.size());
        std::vector<TimeRange> ranges;
        for (const Call& call : found) {
            ranges.push_back(call.range);
            if (part.longest.size() < kMostListed)
                part.longest.push_back(call.slice);
        }
        part.where = subtract(unite(std::move(ranges)), taken);
        part.time = total(part.where);
        if (part.time.count() == 0)
            continue;
        taken = unite(std::move(taken), part.where);
        parts.push_back(std::move(part));
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const OneTimePart& a, const OneTimePart& b) { return a.time > b.time; });
    return parts;
}

Intervals oneTimeIntervals(const std::vector<OneTimePart>& parts)
{
    Intervals all;
    for (const OneTimePart& part : parts)
        all = unite(std::move(all), part.where);
    return all;
}

} // namespace profiler::analysis
