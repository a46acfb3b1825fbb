#include "advisor/evidence/sampled_calls.h"

#include "advisor/evidence/run_facts.h"
#include "advisor/evidence/source_samples.h"
#include "profiler/analysis/call_tree/path_tree.h"
#include "profiler/analysis/device/launched_work.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <string>
#include <vector>

namespace advisor {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kOutside = "outside of the program's files";

struct Launched {
    TraceTime at;
    Slice work;
};

/// Device work with its launches, by the time of the launch.
std::vector<Launched> launchedWork(const Trace& trace, const std::stop_token& stop)
{
    std::vector<Launched> found;
    const LaunchCalls calls(trace);
    for (const ActivityKind kind : {ActivityKind::Kernel, ActivityKind::GpuMemcpy, ActivityKind::GpuMemset})
        for (const Slice& work : trace.ofKind(kind)) {
            if (stop.stop_requested())
                return {};
            const LaunchCall* call = calls.find(work.correlation.value);
            found.push_back({call ? call->range.begin : work.begin, work});
        }
    std::ranges::stable_sort(found, {}, &Launched::at);
    return found;
}

/// Numbers of names in the tree: places, then the two names below, then strings of the trace.
class SampledTree {
public:
    SampledTree(const Trace& trace, const SourceSamples& samples) : m_trace(trace), m_samples(samples) {}

    /// The node of the innermost user line of a sample.
    std::uint32_t nodeOf(std::size_t sample)
    {
        const auto* stack = m_samples.stackOf(sample);
        std::uint32_t node = 0;
        if (stack)
            for (auto place = stack->rbegin(); place != stack->rend(); ++place)
                if (m_samples.places[*place].line != 0)
                    node = m_tree.child(node, static_cast<std::uint32_t>(*place), ActivityKind::Other);
        return node == 0 ? m_tree.child(0, outside(), ActivityKind::Other) : node;
    }
    std::uint32_t notSampled() { return m_tree.child(0, outside() + 1, ActivityKind::Other); }
    void addHost(std::uint32_t node, Nanoseconds time) { m_tree[node].self += time.count(); }
    void addWork(std::uint32_t node, const Slice& work)
    {
        PathTree::Node& leaf = m_tree[m_tree.child(node, outside() + 2 + work.name.value, work.kind)];
        leaf.self += work.duration.count();
        ++leaf.calls;
        leaf.note(work.duration.count(), work.id);
    }

    [[nodiscard]] CallTree finish() const
    {
        return m_tree.finish(
            [this](std::uint32_t name) {
                if (name >= outside())
                    return std::string(name == outside()       ? kOutside
                                       : name == outside() + 1 ? kLaunchNotRecorded
                                                               : m_trace.string(StringId{name - outside() - 2}));
                const SourceSamples::Place& place = m_samples.places[name];
                return m_samples.files[place.file] + '(' + std::to_string(place.line) + "): " + place.function;
            },
            false);
    }

private:
    [[nodiscard]] std::uint32_t outside() const { return static_cast<std::uint32_t>(m_samples.places.size()); }

    const Trace& m_trace;
    const SourceSamples& m_samples;
    PathTree m_tree;
};

Nanoseconds within(const TimeRange& range, const Intervals& window)
{
    if (window.empty())
        return range.duration();
    Nanoseconds sum{};
    for (const TimeRange& part : overlapping(window, range))
        sum += part.clippedTo(range).duration();
    return sum;
}

CallTree sampledTree(const Trace& trace, const SourceSamples& samples, const CallTreeOptions& options,
                     const std::stop_token& stop)
{
    SampledTree tree(trace, samples);
    const CallScope& scope = options.scope;
    const auto track = sampledTrack(trace);
    const bool isInScope = scope.tracks.empty() || !track || std::ranges::binary_search(scope.tracks, *track);
    if (options.time == CallTime::Host) {
        for (std::size_t i = 0; i < samples.samples.size() && isInScope && !stop.stop_requested(); ++i)
            if (const Nanoseconds time = within(samples.rangeOf(i), scope.window); time.count() > 0)
                tree.addHost(tree.nodeOf(i), time);
    } else {
        std::size_t next = 0; // the first sample after a launch
        for (const Launched& launched : launchedWork(trace, stop)) {
            if (stop.stop_requested())
                break;
            if (!scope.window.empty() && !beginsWithin(launched.at, scope.window))
                continue;
            while (next < samples.samples.size() && samples.samples[next].time <= launched.at)
                ++next;
            const bool isSampled = next > 0 && launched.at < samples.rangeOf(next - 1).end;
            tree.addWork(isSampled ? tree.nodeOf(next - 1) : tree.notSampled(), launched.work);
        }
    }
    CallTree finished = tree.finish();
    finished.steps = scope.steps;
    finished.sampledEvery = Nanoseconds(static_cast<std::int64_t>(samples.intervalUs * 1000));
    return finished;
}

} // namespace

bool hasCallsOrSamples(const Trace& trace, CallGrouping grouping)
{
    return profiler::analysis::hasCalls(trace, grouping) ||
           (grouping == CallGrouping::Python && !metadata(trace, "lines").empty());
}

CallTree callsOrSamples(const Trace& trace, const CallTreeOptions& options, const std::stop_token& stop)
{
    if (options.by == CallGrouping::Python && !profiler::analysis::hasCalls(trace, options.by))
        if (const auto samples = readSourceSamples(metadata(trace, "lines")))
            return sampledTree(trace, *samples, options, stop);
    return profiler::analysis::callTree(trace, options, stop);
}

} // namespace advisor
