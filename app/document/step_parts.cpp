#include "app/document/step_parts.h"

#include <QCoreApplication>

namespace app {

using profiler::ActivityKind;
using profiler::Slice;
using profiler::Trace;
using profiler::TrackId;
using profiler::analysis::Step;

namespace {

constexpr int kStepsSearched = 50;

/// The longest slice with that kind and name on a track within a range.
std::optional<Slice> longestNamed(const Trace& trace, TrackId track, profiler::TimeRange range, ActivityKind kind,
                                  std::string_view name)
{
    const auto id = trace.findString(name);
    std::optional<Slice> longest;
    if (!id)
        return longest;
    trace.forEach(track, range, [&](const Slice& slice) {
        if (slice.kind == kind && slice.name == *id && (!longest || slice.duration > longest->duration))
            longest = slice;
        return true;
    });
    return longest;
}

} // namespace

QString stepPartName(const StepPart& part)
{
    return QCoreApplication::translate("StepParts", part.name);
}

Evidence evidenceOf(const Trace& trace, const std::vector<Step>& steps, const StepPart& part)
{
    const Step* most = nullptr;
    for (const Step& step : steps)
        if (isSteady(step) && (!most || step.parts.*part.time > most->parts.*part.time))
            most = &step;
    if (!most)
        return {};
    if (const auto slice = longestNamed(trace, most->slice.track, most->range, ActivityKind::Phase, part.phase);
        slice && !part.phase.empty())
        return {slice->id, slice->range()};
    return {most->slice, most->range};
}

Evidence evidenceOfStage(const Trace& trace, const std::vector<Step>& steps, std::string_view stage)
{
    int searched = 0;
    for (const Step& step : steps) {
        if (!isSteady(step) || ++searched > kStepsSearched)
            continue;
        std::optional<Slice> longest;
        for (const profiler::Track& track : trace.tracks()) {
            if (track.kind != profiler::TrackKind::LoaderWorker && track.id != step.slice.track)
                continue;
            const auto slice = longestNamed(trace, track.id, step.range, ActivityKind::LoaderStage, stage);
            if (slice && (!longest || slice->duration > longest->duration))
                longest = slice;
        }
        if (longest)
            return {longest->id, longest->range()};
    }
    return {};
}

} // namespace app
