#include "profiler/analysis/steps/phases.h"

#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace profiler::analysis {
namespace {

struct Mark {
    std::string_view prefix, phase;
};
constexpr std::array<Mark, 7> kMarks = {{
    {"enumerate(DataLoader)", phase::kDataWait},
    {"enumerate(DataPipe)", phase::kDataWait},
    {"Optimizer.step", phase::kOptimizer},
    {"Optimizer.zero_grad", phase::kZeroGrad},
    {"DistributedDataParallel.forward", phase::kForward},
    {"DataParallel.forward", phase::kForward},
    {"autograd::engine::evaluate_function", phase::kBackward},
}};

/// Index in kMarks + 1; 0: not a mark.
unsigned char markOf(std::string_view name)
{
    for (std::size_t i = 0; i < kMarks.size(); ++i)
        if (name.starts_with(kMarks[i].prefix))
            return static_cast<unsigned char>(i + 1);
    return 0;
}

/// What a thread records about its own work; steps around it do not count.
struct OwnWork {
    Intervals ranges;
    bool hasPhases = false; ///< has Phase slices, which only Stepscope records
};

OwnWork ownWork(const Trace& trace, const Phases& phases, TrackId track)
{
    OwnWork work;
    const auto& blocks = trace.slicesOf(track).blocks;
    work.hasPhases = std::any_of(blocks.begin(), blocks.end(),
                                 [](const BlockRef& block) { return block.summary().holds(ActivityKind::Phase); });
    if (work.hasPhases)
        return work;
    UnionBuilder ranges;
    std::vector<char> isMark(trace.stringCount());
    for (std::uint32_t id = 0; id < isMark.size(); ++id)
        isMark[id] = isProfilerStep(trace.string(StringId{id})) ? 1 : 0;
    forEachView(trace, track, [&](const SliceView& slice) {
        const ActivityKind kind = slice.kind();
        const bool works =
            kind == ActivityKind::CpuOp || kind == ActivityKind::CudaRuntime || !phases.of(slice).empty();
        if (works && isMark[slice.nameId().value] == 0)
            ranges.add(slice.range());
    });
    work.ranges = ranges.take();
    return work;
}

bool touches(const Intervals& set, TimeRange range)
{
    const auto next = std::upper_bound(set.begin(), set.end(), range.begin,
                                       [](TraceTime time, const TimeRange& some) { return time < some.end; });
    return next != set.end() && next->begin < range.end;
}

constexpr std::int64_t kNoNumber = -1;

/// An operator of the steps' thread, or a node of a backward pass on any thread.
struct NumberedOp {
    TimeRange range;
    std::int64_t number = kNoNumber; ///< autograd's sequence number
};

/// Operators that move data between host and device, or that wait for a value.
enum class OpUse : std::uint8_t { Plain, Copy, Metrics };

OpUse useOf(std::string_view name)
{
    constexpr std::array<std::string_view, 3> kCopies = {"aten::to", "aten::_to_copy", "aten::copy_"};
    if (name == "aten::item" || name == "aten::_local_scalar_dense")
        return OpUse::Metrics;
    return std::ranges::find(kCopies, name) != kCopies.end() ? OpUse::Copy : OpUse::Plain;
}

/// What the threads of the steps' process recorded.
struct Recorded {
    std::vector<NumberedOp> ops;   ///< on the steps' thread, outside of phases other than forward; by start
    std::vector<NumberedOp> nodes; ///< by start
    Intervals marked;              ///< phases of the steps' thread
    Intervals copies, metrics;     ///< operators of the steps' thread by their use
};

/// Classification of operator names, by string id.
struct NamedOps {
    std::vector<OpUse> uses;
    std::vector<char> nodes; ///< autograd nodes, by the names used since PyTorch 1.9 or by the older names
    bool anyNode = false;
};

NamedOps nameOps(const Trace& trace, const Phases& phases)
{
    NamedOps named{std::vector<OpUse>(trace.stringCount()), std::vector<char>(trace.stringCount())};
    for (std::uint32_t id = 0; id < named.uses.size(); ++id) {
        const std::string_view name = trace.string(StringId{id});
        named.uses[id] = useOf(name);
        const bool isNode = isOldNode(name) || phases.of(ActivityKind::CpuOp, StringId{id}) == phase::kBackward;
        named.nodes[id] = isNode ? 1 : 0;
        named.anyNode = named.anyNode || isNode;
    }
    return named;
}

Recorded read(const Trace& trace, const Phases& phases, const NamedOps& named, TrackId steps)
{
    Recorded recorded;
    UnionBuilder marked, otherPhases, copies, metrics; // otherPhases: all except forward
    for (const Track& track : trace.tracks()) {
        const bool host = track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread;
        if (!host || track.pid != trace.track(steps).pid)
            continue;
        forEachView(trace, track.id, [&](const SliceView& slice) {
            const bool own = track.id == steps;
            const std::string_view name = own ? phases.of(slice) : std::string_view();
            if (!name.empty())
                marked.add(slice.range());
            if (!name.empty() && name != phase::kForward)
                otherPhases.add(slice.range());
            if (slice.kind() != ActivityKind::CpuOp)
                return;
            if (named.nodes[slice.nameId().value] != 0) {
                recorded.nodes.push_back({slice.range(), slice.sequence()});
            } else if (own) {
                recorded.ops.push_back({slice.range(), slice.sequence()});
                const OpUse use = named.uses[slice.nameId().value];
                if (use != OpUse::Plain)
                    (use == OpUse::Copy ? copies : metrics).add(slice.range());
            }
        });
    }
    recorded.marked = marked.take();
    recorded.copies = copies.take();
    recorded.metrics = metrics.take();
    const auto byBegin = [](const NumberedOp& a, const NumberedOp& b) { return a.range.begin < b.range.begin; };
    for (std::vector<NumberedOp>* some : {&recorded.ops, &recorded.nodes})
        if (!std::ranges::is_sorted(*some, byBegin))
            std::ranges::stable_sort(*some, byBegin);
    // Operators inside other phases, such as the optimizer, belong to these phases.
    const Intervals others = otherPhases.take();
    std::erase_if(recorded.ops, [&](const NumberedOp& op) {
        const auto around = overlapping(others, op.range);
        return !around.empty() && around.front().begin <= op.range.begin && around.front().end >= op.range.end;
    });
    return recorded;
}

/// A backward pass and the sequence numbers of its nodes.
struct Pass {
    TimeRange range;
    std::int64_t lowest = 0, highest = 0;
};

/// The loss has the highest number of its graph, so a node with a higher number than all before starts another pass.
std::vector<Pass> passesOf(std::span<const NumberedOp> nodes)
{
    std::vector<Pass> passes;
    for (const NumberedOp& node : nodes) {
        if (node.number == kNoNumber)
            continue; // nodes that accumulate gradients belong to no operator
        if (passes.empty() || node.number > passes.back().highest) {
            passes.push_back({node.range, node.number, node.number});
            continue;
        }
        Pass& pass = passes.back();
        pass.range.end = std::max(pass.range.end, node.range.end);
        pass.lowest = std::min(pass.lowest, node.number);
    }
    return passes;
}

/// From the first to the last operator with a number of `pass`, among those that start before it.
/// @param ops  by start
TimeRange forwardOf(std::span<const NumberedOp> ops, const Pass& pass)
{
    TimeRange forward{TraceTime::max(), TraceTime::min()};
    TimeRange outer{TraceTime::min(), TraceTime::min()}; // current outermost operator
    bool past = false;                                   // an operator with a number above the lowest was seen
    for (const NumberedOp& op : ops) {
        if (op.range.end > pass.range.begin)
            continue; // it also contains the backward pass: a range of the program around a step
        if (op.range.begin >= outer.end)
            outer = op.range;
        if (op.number < pass.lowest || op.number > pass.highest)
            continue;
        // Operators without gradients have the number of the next operator with gradients. Of the operators with the
        // lowest number, only the last one therefore belongs to the pass.
        past = past || op.number > pass.lowest;
        if (!past || forward.begin == TraceTime::max())
            forward.begin = outer.begin;
        forward.end = std::max(forward.end, outer.end);
    }
    return forward;
}

std::span<const NumberedOp> beginningIn(std::span<const NumberedOp> ops, TimeRange range)
{
    const auto before = [](const NumberedOp& op, TraceTime time) { return op.range.begin < time; };
    const auto first = std::lower_bound(ops.begin(), ops.end(), range.begin, before);
    const auto last = std::lower_bound(first, ops.end(), range.end, before);
    return {first, last};
}

struct Inferring {
    std::vector<TimeRange> forward, beforeForward;
    void add(TraceTime from, TimeRange range)
    {
        if (range.begin >= range.end)
            return;
        forward.push_back(range);
        if (from < range.begin)
            beforeForward.push_back({from, range.begin});
    }
};

Inferring byNumbers(const Recorded& recorded, std::span<const Pass> passes)
{
    Inferring found;
    TraceTime from = TraceTime::min();
    for (const Pass& pass : passes) {
        found.add(from, forwardOf(beginningIn(recorded.ops, {from, pass.range.begin}), pass));
        from = std::max(from, pass.range.end);
    }
    return found;
}

Inferring byOrder(const Recorded& recorded, std::span<const TimeRange> steps)
{
    Inferring found;
    for (const TimeRange& step : steps) {
        const auto nodes = beginningIn(recorded.nodes, step);
        if (nodes.empty())
            continue;
        const auto ops = beginningIn(recorded.ops, {step.begin, nodes.front().range.begin});
        TimeRange forward{TraceTime::max(), TraceTime::min()};
        for (const NumberedOp& op : ops)
            if (op.range.end <= nodes.front().range.begin) {
                forward.begin = std::min(forward.begin, op.range.begin);
                forward.end = std::max(forward.end, op.range.end);
            }
        found.add(step.begin, forward);
    }
    return found;
}

} // namespace

std::string_view phaseOfRange(std::string_view name)
{
    const unsigned char mark = markOf(name);
    return mark == 0 ? std::string_view() : kMarks[mark - 1].phase;
}

bool isGarbageCollection(std::string_view name)
{
    return name.find("gc.collect") != name.npos || name.find("arbage collect") != name.npos || name == "gc" ||
           name == "GC";
}

Phases::Phases(const Trace& trace)
    : m_trace(trace), m_hooked(trace.metadata().contains("ops.source")), m_marks(trace.stringCount())
{
    for (std::uint32_t id = 0; id < m_marks.size(); ++id)
        m_marks[id] = markOf(trace.string(StringId{id}));
}

std::string_view Phases::of(ActivityKind kind, StringId name) const
{
    if (kind == ActivityKind::Phase)
        return m_trace.string(name);
    if (!mayBePhase(kind))
        return {};
    const unsigned char mark = m_marks[name.value];
    return mark == 0 ? std::string_view() : kMarks[mark - 1].phase;
}

bool isOldNode(std::string_view name)
{
    while (!name.empty() && name.back() >= '0' && name.back() <= '9')
        name.remove_suffix(1);
    return name.ends_with("Backward") || name.starts_with("torch::autograd::");
}

Intervals backwardPasses(const Trace& trace, const Phases& phases, TrackId track)
{
    const OwnWork own = ownWork(trace, phases, track);
    if (own.hasPhases)
        return {};
    std::vector<char> oldNodes(trace.stringCount());
    for (std::uint32_t id = 0; id < oldNodes.size(); ++id)
        oldNodes[id] = isOldNode(trace.string(StringId{id})) ? 1 : 0;
    UnionBuilder nodes;
    for (const Track& other : trace.tracks()) {
        const bool host = other.kind == TrackKind::MainThread || other.kind == TrackKind::Thread;
        if (other.id == track || !host || other.pid != trace.track(track).pid)
            continue;
        forEachView(trace, other.id, [&](const SliceView& slice) {
            if (phases.of(slice) == phase::kBackward ||
                (slice.kind() == ActivityKind::CpuOp && oldNodes[slice.nameId().value] != 0))
                nodes.add(slice.range());
        });
    }
    Intervals passes;
    for (const TimeRange& node : nodes.take()) {
        if (!passes.empty() && !touches(own.ranges, {passes.back().end, node.begin}))
            passes.back().end = node.end;
        else
            passes.push_back(node);
    }
    return subtract(passes, own.ranges);
}

InferredPhases inferPhases(const Trace& trace, const Phases& phases, TrackId track, const std::vector<TimeRange>& steps,
                           const Intervals& backward)
{
    const auto& blocks = trace.slicesOf(track).blocks;
    if (std::ranges::any_of(blocks, [](const BlockRef& block) { return block.summary().holds(ActivityKind::Phase); }))
        return {};
    const NamedOps named = nameOps(trace, phases);
    if (!named.anyNode)
        return {};
    const Recorded recorded = read(trace, phases, named, track);
    const std::vector<Pass> passes = passesOf(recorded.nodes);
    Inferring found = passes.empty() ? byOrder(recorded, steps) : byNumbers(recorded, passes);
    const Intervals known = unite(recorded.marked, backward);
    InferredPhases inferred;
    inferred.forward = subtract(unite(std::move(found.forward)), known);
    if (inferred.forward.empty())
        return inferred;
    const Intervals rest = unite(known, inferred.forward);
    inferred.copy = subtract(intersect(recorded.copies, unite(std::move(found.beforeForward))), rest);
    inferred.metrics = subtract(recorded.metrics, rest);
    return inferred;
}

} // namespace profiler::analysis
