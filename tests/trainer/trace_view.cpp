#include "tests/trainer/trace_view.h"

#include <algorithm>
#include <stdexcept>

namespace trainer_test {

using namespace profiler;

TraceView::TraceView(std::shared_ptr<const Trace> trace) : m_trace(std::move(trace))
{
    if (!m_trace)
        throw std::runtime_error("there is no trace");
    for (const Track& track : m_trace->tracks())
        if (track.kind == TrackKind::MainThread)
            m_main = track.id;
}

std::vector<Slice> TraceView::onMain(ActivityKind kind) const
{
    std::vector<Slice> found;
    if (m_trace->tracks().empty())
        return found;
    for (const Slice& slice : m_trace->sorted(m_main))
        if (slice.kind == kind)
            found.push_back(slice);
    return found;
}

std::vector<Slice> TraceView::phases(std::string_view name) const
{
    auto found = onMain(ActivityKind::Phase);
    std::erase_if(found, [&](const Slice& slice) { return m_trace->name(slice) != name; });
    return found;
}

std::vector<Slice> TraceView::opsIn(std::string_view phase) const
{
    std::vector<Slice> found;
    std::vector<Slice> around; // phases that are not over, innermost last
    if (m_trace->tracks().empty())
        return found;
    for (const Slice& slice : m_trace->sorted(m_main)) {
        while (!around.empty() && around.back().end() <= slice.begin)
            around.pop_back();
        if (slice.kind == ActivityKind::Phase)
            around.push_back(slice);
        else if (slice.kind == ActivityKind::CpuOp && !around.empty() && m_trace->name(around.back()) == phase)
            found.push_back(slice);
    }
    return found;
}

int TraceView::count(std::string_view op, std::string_view phase) const
{
    const auto ops = opsIn(phase);
    return static_cast<int>(std::ranges::count_if(ops, [&](const Slice& slice) { return m_trace->name(slice) == op; }));
}

std::vector<std::int64_t> TraceView::stepsWithOps() const
{
    std::vector<std::int64_t> found;
    const auto ops = onMain(ActivityKind::CpuOp);
    for (const Slice& step : onMain(ActivityKind::Step))
        if (std::ranges::any_of(ops, [&](const Slice& op) { return step.range().contains(op.begin); }))
            found.push_back(step.args.value);
    return found;
}

std::vector<Track> TraceView::tracks(TrackKind kind) const
{
    std::vector<Track> found;
    for (const Track& track : m_trace->tracks())
        if (track.kind == kind)
            found.push_back(track);
    return found;
}

std::vector<Slice> TraceView::stages(std::string_view name) const
{
    auto found = m_trace->ofKind(ActivityKind::LoaderStage);
    std::erase_if(found, [&](const Slice& slice) { return m_trace->name(slice) != name; });
    return found;
}

std::string TraceView::metadata(std::string_view key) const
{
    const auto found = m_trace->metadata().find(key);
    return found == m_trace->metadata().end() ? "" : found->second;
}

} // namespace trainer_test
