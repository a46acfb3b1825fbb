#include "advisor/evidence/callers.h"

#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/step_marks.h"

#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

/// The calls that launched these copies, by correlation id.
std::unordered_map<std::uint64_t, Slice> copyCalls(const Trace& trace, std::span<const SliceId> ids)
{
    std::unordered_set<std::uint64_t> wanted;
    for (const SliceId id : ids)
        if (const Slice slice = trace.slice(id); isDeviceWork(slice.kind) && slice.correlation.value != 0)
            wanted.insert(slice.correlation.value);
    std::unordered_map<std::uint64_t, Slice> calls;
    if (wanted.empty())
        return calls;
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
        for (const Slice& call :
             ofKindNamed(trace, kind, [](std::string_view name) { return name.find("emcpy") != name.npos; }))
            if (wanted.contains(call.correlation.value))
                calls.emplace(call.correlation.value, call);
    return calls;
}

std::string callerOf(const Trace& trace, const Slice& call)
{
    std::optional<Slice> op, frame;
    const auto isLibrary = [&](const Slice& slice) {
        return trace.name(slice).find("torch/") != std::string_view::npos;
    };
    trace.forEach(call.id.track, call.range(), [&](const Slice& slice) {
        if (slice.begin > call.begin || slice.end() < call.end())
            return true;
        const std::string_view name = trace.name(slice);
        const bool isOp = slice.kind == ActivityKind::CpuOp && !isProfilerStep(name) && phaseOfRange(name).empty();
        if (isOp && (!op || slice.duration > op->duration))
            op = slice;
        if (name.find(".py(") != name.npos &&
            (!frame || std::pair(isLibrary(slice), slice.duration) < std::pair(isLibrary(*frame), frame->duration)))
            frame = slice;
        return true;
    });
    std::string text(op ? trace.name(*op) : std::string_view());
    if (frame)
        text += fmt::format("{}{}", op ? " in " : "", trace.name(*frame));
    return text;
}

} // namespace

std::vector<std::string> callersOf(const Trace& trace, std::span<const SliceId> ids)
{
    const auto calls = copyCalls(trace, ids);
    std::vector<std::string> callers;
    for (const SliceId id : ids) {
        const Slice slice = trace.slice(id);
        const auto call = isDeviceWork(slice.kind) ? calls.find(slice.correlation.value) : calls.end();
        if (!isDeviceWork(slice.kind))
            callers.push_back(callerOf(trace, slice));
        else
            callers.push_back(call != calls.end() ? callerOf(trace, call->second) : std::string());
    }
    return callers;
}

} // namespace advisor
