#include "advisor/callers.h"

#include "profiler/analysis/phases.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/step_marks.h"

#include <fmt/format.h>
#include <optional>
#include <utility>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

/// The call that ordered a copy; a call itself.
std::optional<Slice> callOf(const Trace& trace, SliceId id)
{
    const Slice slice = trace.slice(id);
    if (!isDeviceWork(slice.kind))
        return slice;
    if (slice.correlation.value == 0)
        return std::nullopt;
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
        for (const Slice& call :
             ofKindNamed(trace, kind, [](std::string_view name) { return name.find("emcpy") != name.npos; }))
            if (call.correlation == slice.correlation)
                return call;
    return std::nullopt;
}

} // namespace

std::string callerOf(const Trace& trace, SliceId id)
{
    const std::optional<Slice> call = callOf(trace, id);
    if (!call)
        return {};
    std::optional<Slice> op, frame;
    const auto isLibrary = [&](const Slice& slice) {
        return trace.name(slice).find("torch/") != std::string_view::npos;
    };
    trace.forEach(call->id.track, call->range(), [&](const Slice& slice) {
        if (slice.begin > call->begin || slice.end() < call->end())
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

} // namespace advisor
