#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/replay/replay.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stop_token>
#include <tuple>
#include <unordered_map>

namespace profiler::analysis {

/// Whether a copy call returns only after the copy is complete.
enum class HostWait : std::uint8_t { Never, UnlessAsync, Always };

/// Builds the graph of one trace: first the sequences, then the dependencies between them.
class ReplayBuilder {
public:
    ReplayBuilder(const Trace& trace, const std::function<bool(const SliceView&)>& alsoCut,
                  const std::stop_token& stop);
    ReplayGraph build(const std::vector<Step>& steps);

private:
    /// A slice that divides a host sequence into pieces.
    struct Entry {
        std::int64_t begin = 0, end = 0;
        SliceId slice;
        StringId name;
        ActivityKind kind{};
        std::uint8_t phase = 0;
        std::uint64_t correlation = 0; ///< of a call
    };
    struct Link {
        std::uint64_t correlation;
        std::uint32_t node;
    };
    struct WaitedCopy {
        std::uint64_t correlation;
        std::uint32_t node;
        HostWait wait;
    };
    struct End {
        std::int64_t end;
        std::uint32_t node;
    };

    class FullQueue;

    static bool earlier(const Link& a, const Link& b);
    std::uint8_t phaseIndex(std::string_view phase);
    void collect(const Track& track, std::vector<Entry>& entries);
    void addThreadBuffer(std::vector<Entry> entries, ReplayWork::Where where);
    void closeUpTo(std::int64_t time);
    void cut(std::int64_t time);
    void addStream(const Track& track);
    [[nodiscard]] bool stopped() const { return m_stop.stop_requested(); }
    bool addSequences();
    [[nodiscard]] std::optional<std::uint32_t> launchOf(std::uint64_t correlation) const;
    void setDeviceLags(const ReplayGraph::Sequence& sequence);
    void waitFor(std::uint32_t node, const std::vector<End>& ends);
    void setWait(ReplayGraph::Node& waiting, std::uint32_t cause);
    void linkWaits();
    void linkBlockingCopies();
    void setOwnTimes();

    const Trace& m_trace;
    Phases m_names;
    const std::function<bool(const SliceView&)>& m_alsoCut;
    const std::stop_token& m_stop;
    /// By string id: synchronizing call, copy call, asynchronous copy call, step mark.
    std::vector<bool> m_sync, m_copies, m_copiesAsync, m_marks;
    ReplayGraph m_graph;
    std::vector<const Entry*> m_open; ///< the enclosing slices, outermost first
    std::int64_t m_position = 0;
    std::vector<Link> m_launches;   ///< the piece that ends at the start of a call
    std::vector<Link> m_callPieces; ///< pieces inside a call
    std::vector<WaitedCopy> m_waitedCopies;
};

namespace {

std::int64_t median(std::vector<std::int64_t>& values)
{
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// According to CUDA's documentation; an unknown memory kind may be any kind.
HostWait hostWaitOf(const SliceArgs& copy)
{
    constexpr std::int64_t kStaged = 64 * 1024; // bytes; the driver stages copies to the device up to this size
    const bool toDevice = copy.copy == CopyKind::HtoD;
    if (copy.copy == CopyKind::DtoD || copy.copy == CopyKind::PtoP ||
        (toDevice && copy.bytes > 0 && copy.bytes <= kStaged))
        return HostWait::Never;
    const bool pinned =
        (toDevice && copy.src == MemoryKind::Pinned) || (copy.copy == CopyKind::DtoH && copy.dst == MemoryKind::Pinned);
    return pinned ? HostWait::UnlessAsync : HostWait::Always;
}

} // namespace

ReplayBuilder::ReplayBuilder(const Trace& trace, const std::function<bool(const SliceView&)>& alsoCut,
                             const std::stop_token& stop)
    : m_trace(trace), m_names(trace), m_alsoCut(alsoCut), m_stop(stop), m_sync(trace.stringCount()),
      m_copies(trace.stringCount()), m_copiesAsync(trace.stringCount()), m_marks(trace.stringCount())
{
    for (std::uint32_t id = 0; id < trace.stringCount(); ++id) {
        const std::string_view name = trace.string(StringId{id});
        m_sync[id] = isSyncCall(name);
        m_copies[id] = name.find("Memcpy") != name.npos;
        m_copiesAsync[id] = m_copies[id] && !isBlockingCopy(name);
        m_marks[id] = isProfilerStep(name);
    }
    m_graph.m_phases.emplace_back();
    m_graph.m_begin = toNs(trace.range().begin);
}

std::uint8_t ReplayBuilder::phaseIndex(std::string_view phase)
{
    auto& phases = m_graph.m_phases;
    const auto found = std::find(phases.begin(), phases.end(), phase);
    if (found != phases.end())
        return static_cast<std::uint8_t>(found - phases.begin());
    if (phases.size() > 250) // far more than any step has: names created by the program
        return 0;
    phases.push_back(phase);
    return static_cast<std::uint8_t>(phases.size() - 1);
}

void ReplayBuilder::collect(const Track& track, std::vector<Entry>& entries)
{
    const auto take = [&](const SliceView& slice) {
        const ActivityKind kind = slice.kind();
        const std::string_view phase = m_names.of(slice);
        const bool call = kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
        const bool loader = kind == ActivityKind::LoaderStage || kind == ActivityKind::LoaderWait;
        const bool mark = kind == ActivityKind::Step || m_marks[slice.nameId().value];
        if (!call && !loader && !mark && phase.empty() && kind != ActivityKind::Sync &&
            !(m_alsoCut && m_alsoCut(slice)))
            return;
        entries.push_back({.begin = toNs(slice.begin()),
                           .end = toNs(slice.end()),
                           .slice = slice.id(),
                           .name = slice.nameId(),
                           .kind = mark ? ActivityKind::Step : kind,
                           .phase = phase.empty() ? std::uint8_t{0} : phaseIndex(phase),
                           .correlation = call ? slice.correlation().value : 0});
    };
    forEachView(m_trace, track.id, take, m_stop);
}

void ReplayBuilder::addThreadBuffer(std::vector<Entry> entries, ReplayWork::Where where)
{
    if (entries.empty() || stopped())
        return;
    sortRuns(entries, [](const Entry& a, const Entry& b) {
        return std::tuple{a.begin, -a.end} < std::tuple{b.begin, -b.end};
    });
    auto& nodes = m_graph.m_nodes;
    const auto first = static_cast<std::uint32_t>(nodes.size());
    m_position = entries.front().begin;
    // An empty piece that launches at the start can refer to.
    ReplayGraph::Node head;
    head.end = m_position;
    head.lag = m_position - m_graph.m_begin;
    nodes.push_back(head);
    for (const Entry& entry : entries) {
        if (stopped())
            break;
        closeUpTo(entry.begin);
        cut(entry.begin);
        if (entry.correlation != 0)
            m_launches.push_back({entry.correlation, static_cast<std::uint32_t>(nodes.size() - 1)});
        m_open.push_back(&entry);
    }
    closeUpTo(std::numeric_limits<std::int64_t>::max());
    m_graph.m_sequences.push_back({where, first, static_cast<std::uint32_t>(nodes.size())});
}

/// Closes the open slices that end by `time`. A slice that ends after its parent is cut at the parent's end.
void ReplayBuilder::closeUpTo(std::int64_t time)
{
    while (!m_open.empty() && m_open.back()->end <= time) {
        cut(m_open.back()->end);
        m_open.pop_back();
    }
}

/// The piece from the last cut to `time`.
void ReplayBuilder::cut(std::int64_t time)
{
    if (time <= m_position)
        return;
    ReplayGraph::Node node;
    node.end = time;
    node.duration = time - m_position;
    for (auto entry = m_open.rbegin(); entry != m_open.rend() && node.phase == 0; ++entry)
        node.phase = (*entry)->phase;
    if (!m_open.empty() && m_open.back()->kind != ActivityKind::Step) {
        node.slice = m_open.back()->slice;
        node.name = m_open.back()->name;
        node.kind = m_open.back()->kind;
    }
    m_graph.m_nodes.push_back(node);
    if (!m_open.empty() && m_open.back()->correlation != 0)
        m_callPieces.push_back({m_open.back()->correlation, static_cast<std::uint32_t>(m_graph.m_nodes.size() - 1)});
    m_position = time;
}

void ReplayBuilder::addStream(const Track& track)
{
    struct Work {
        std::int64_t begin, end;
        SliceId slice;
        StringId name;
        ActivityKind kind;
        std::uint64_t correlation;
        HostWait hostWait;
    };
    std::vector<Work> works;
    works.reserve(m_trace.sliceCount(track.id));
    const auto take = [&](const SliceView& slice) {
        if (const ActivityKind kind = slice.kind(); isDeviceWork(kind))
            works.push_back({toNs(slice.begin()), toNs(slice.end()), slice.id(), slice.nameId(), kind,
                             slice.correlation().value,
                             kind == ActivityKind::GpuMemcpy ? hostWaitOf(slice.slice().args) : HostWait::Never});
    };
    forEachView(m_trace, track.id, take, m_stop);
    if (works.empty() || stopped())
        return;
    sortRuns(works, [](const Work& a, const Work& b) {
        return std::tuple{a.begin, a.end} < std::tuple{b.begin, b.end};
    });
    auto& nodes = m_graph.m_nodes;
    const auto first = static_cast<std::uint32_t>(nodes.size());
    for (const Work& work : works) {
        if (stopped())
            return;
        ReplayGraph::Node node;
        node.end = work.end;
        node.duration = work.end - work.begin;
        node.slice = work.slice;
        node.name = work.name;
        node.kind = work.kind;
        if (const auto launch = launchOf(work.correlation); launch && nodes[*launch].end <= work.end)
            node.cross = *launch;
        if (work.correlation != 0 && work.hostWait != HostWait::Never)
            m_waitedCopies.push_back({work.correlation, static_cast<std::uint32_t>(nodes.size()), work.hostWait});
        nodes.push_back(node);
    }
    m_graph.m_sequences.push_back({ReplayWork::Where::Device, first, static_cast<std::uint32_t>(nodes.size())});
    setDeviceLags(m_graph.m_sequences.back());
}

std::optional<std::uint32_t> ReplayBuilder::launchOf(std::uint64_t correlation) const
{
    const auto found =
        std::lower_bound(m_launches.begin(), m_launches.end(), correlation,
                         [](const Link& link, std::uint64_t wanted) { return link.correlation < wanted; });
    return correlation != 0 && found != m_launches.end() && found->correlation == correlation
               ? std::optional(found->node)
               : std::nullopt;
}

/// The later of the two causes is binding and keeps the remaining time; the other one uses its usual delay.
void ReplayBuilder::setDeviceLags(const ReplayGraph::Sequence& sequence)
{
    auto& nodes = m_graph.m_nodes;
    struct Gaps {
        std::int64_t stream, launch;
    };
    const auto gapsOf = [&](std::uint32_t i) {
        const std::int64_t begin = nodes[i].end - nodes[i].duration;
        const std::int64_t before = i > sequence.begin ? nodes[i - 1].end : m_graph.m_begin;
        return Gaps{begin - before, nodes[i].cross != ReplayGraph::kNone ? begin - nodes[nodes[i].cross].end : 0};
    };
    std::vector<std::int64_t> gaps, latencies;
    for (std::uint32_t i = sequence.begin + 1; i < sequence.end; ++i)
        if (const Gaps gap = gapsOf(i); nodes[i].cross != ReplayGraph::kNone && gap.stream >= 0 && gap.launch >= 0)
            (gap.stream < gap.launch ? gaps : latencies).push_back(std::min(gap.stream, gap.launch));
    const std::int64_t gap = median(gaps), latency = median(latencies);
    for (std::uint32_t i = sequence.begin; i < sequence.end; ++i) {
        const Gaps own = gapsOf(i);
        ReplayGraph::Node& node = nodes[i];
        node.lag = own.stream;
        if (node.cross == ReplayGraph::kNone)
            continue;
        node.crossLag = own.launch;
        // The binding cause is the one that comes later after subtracting its usual delay.
        if (own.stream - gap <= own.launch - latency)
            node.crossLag = std::min(own.launch, latency);
        else
            node.lag = std::min(own.stream, gap);
    }
}

void ReplayBuilder::waitFor(std::uint32_t node, const std::vector<End>& ends)
{
    ReplayGraph::Node& waiting = m_graph.m_nodes[node];
    const auto after = std::upper_bound(ends.begin(), ends.end(), waiting.end,
                                        [](std::int64_t end, const End& row) { return end < row.end; });
    if (after != ends.begin() && std::prev(after)->end > waiting.end - waiting.duration)
        setWait(waiting, std::prev(after)->node);
}

void ReplayBuilder::setWait(ReplayGraph::Node& waiting, std::uint32_t cause)
{
    waiting.cross = cause;
    waiting.endsAfter = true;
    waiting.crossLag = waiting.end - m_graph.m_nodes[cause].end;
}

/// Launches that waited for room in the queue of their stream. A stream holds about 1,024 commands (measured by others
/// on Volta to Hopper). When it is full, a launch returns only after the device has started one more command. Such a
/// call takes many times longer than usual launches of its name, while the device has hundreds of them to start.
class ReplayBuilder::FullQueue {
public:
    explicit FullQueue(const ReplayGraph& graph)
    {
        std::unordered_map<std::uint32_t, std::vector<std::int64_t>> durations;
        for (const auto& sequence : graph.m_sequences)
            for (std::uint32_t i = sequence.begin; i < sequence.end; ++i) {
                const auto& node = graph.m_nodes[i];
                if (sequence.where == ReplayWork::Where::Device && node.cross != ReplayGraph::kNone) {
                    m_launched.push_back(graph.m_nodes[node.cross].end);
                    m_started.push_back(node.end - node.duration);
                } else if (isCall(node)) {
                    durations[node.name.value].push_back(node.duration);
                }
            }
        std::sort(m_launched.begin(), m_launched.end());
        std::sort(m_started.begin(), m_started.end());
        for (auto& [name, all] : durations) {
            // If the queue is always full, most launches are delayed, but the fastest tenth is not.
            const auto quick = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 10);
            std::nth_element(all.begin(), quick, all.end());
            m_usual[name] = *quick;
        }
    }
    [[nodiscard]] bool heldUp(const ReplayGraph::Node& call) const
    {
        constexpr std::int64_t kShortest = 20'000; // ns; shorter delays are normal for a launch
        constexpr std::int64_t kTimes = 8;         // times the usual duration; blocked launches take hundreds
        constexpr std::ptrdiff_t kMany = 256;      // a quarter of the queue, because events occupy it too but are not
                                                   // traced
        if (!isCall(call) || call.duration < kShortest)
            return false;
        const auto usual = m_usual.find(call.name.value);
        return usual != m_usual.end() && call.duration > kTimes * usual->second &&
               upTo(m_launched, call.end - call.duration) - upTo(m_started, call.end - call.duration) >= kMany;
    }

private:
    static bool isCall(const ReplayGraph::Node& node)
    {
        return node.kind == ActivityKind::CudaRuntime || node.kind == ActivityKind::CudaDriver;
    }
    static std::ptrdiff_t upTo(const std::vector<std::int64_t>& times, std::int64_t time)
    {
        return std::upper_bound(times.begin(), times.end(), time) - times.begin();
    }
    std::vector<std::int64_t> m_launched, m_started;         ///< ns, sorted
    std::unordered_map<std::uint32_t, std::int64_t> m_usual; ///< ns, by name
};

void ReplayBuilder::linkWaits()
{
    auto& nodes = m_graph.m_nodes;
    std::vector<End> device, loaded, taken;
    for (const auto& sequence : m_graph.m_sequences)
        for (std::uint32_t i = sequence.begin; i < sequence.end; ++i) {
            const bool data =
                sequence.where == ReplayWork::Where::Host && m_graph.m_phases[nodes[i].phase] == phase::kDataWait;
            if (sequence.where == ReplayWork::Where::Device)
                device.push_back({nodes[i].end, i});
            else if (sequence.where == ReplayWork::Where::Loader && nodes[i].kind == ActivityKind::LoaderStage)
                loaded.push_back({nodes[i].end, i});
            else if (data)
                taken.push_back({nodes[i].end, i});
        }
    for (std::vector<End>* ends : {&device, &loaded, &taken})
        sortRuns(*ends, [](const End& a, const End& b) { return std::tie(a.end, a.node) < std::tie(b.end, b.node); });
    for (const auto& sequence : m_graph.m_sequences) {
        if (sequence.where == ReplayWork::Where::Device)
            continue;
        for (std::uint32_t i = sequence.begin; i < sequence.end && !stopped(); ++i) {
            const bool call = nodes[i].kind == ActivityKind::CudaRuntime || nodes[i].kind == ActivityKind::CudaDriver;
            if (nodes[i].kind == ActivityKind::Sync || (call && m_sync[nodes[i].name.value]))
                waitFor(i, device);
            else if (nodes[i].kind == ActivityKind::LoaderWait)
                waitFor(i, taken);
            else if (sequence.where == ReplayWork::Where::Host && m_graph.m_phases[nodes[i].phase] == phase::kDataWait)
                waitFor(i, loaded);
        }
    }
    if (stopped())
        return;
    linkBlockingCopies();
    const FullQueue queue(m_graph);
    for (const auto& sequence : m_graph.m_sequences)
        for (std::uint32_t i = sequence.begin; i < sequence.end && sequence.where == ReplayWork::Where::Host; ++i)
            if (nodes[i].cross == ReplayGraph::kNone && queue.heldUp(nodes[i]))
                waitFor(i, device);
    setOwnTimes();
}

bool ReplayBuilder::earlier(const Link& a, const Link& b)
{
    return std::tie(a.correlation, a.node) < std::tie(b.correlation, b.node);
}

/// A call that ends after its copy waited for it, if such copies block at all: on an idle device, any copy may finish
/// before its call does.
void ReplayBuilder::linkBlockingCopies()
{
    sortRuns(m_waitedCopies, [](const WaitedCopy& a, const WaitedCopy& b) {
        return std::tie(a.correlation, a.node) < std::tie(b.correlation, b.node);
    });
    for (const Link& piece : m_callPieces) {
        ReplayGraph::Node& call = m_graph.m_nodes[piece.node];
        if (call.cross != ReplayGraph::kNone || !m_copies[call.name.value])
            continue;
        const auto copy =
            std::lower_bound(m_waitedCopies.begin(), m_waitedCopies.end(), piece.correlation,
                             [](const WaitedCopy& row, std::uint64_t wanted) { return row.correlation < wanted; });
        if (copy == m_waitedCopies.end() || copy->correlation != piece.correlation ||
            (copy->wait == HostWait::UnlessAsync && m_copiesAsync[call.name.value]))
            continue;
        const std::int64_t end = m_graph.m_nodes[copy->node].end;
        if (end <= call.end && end > call.end - call.duration)
            setWait(call, copy->node);
    }
}

/// The duration of a wait with nothing to wait for: the shortest such wait of the same name in this trace, or zero if
/// all of them waited.
void ReplayBuilder::setOwnTimes()
{
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> shortest(m_trace.stringCount(), kNone);
    const auto isHost = [](const ReplayGraph::Node& node) { return !isDeviceWork(node.kind) && node.name.value != 0; };
    for (const ReplayGraph::Node& node : m_graph.m_nodes)
        if (isHost(node) && !node.endsAfter)
            shortest[node.name.value] = std::min(shortest[node.name.value], node.duration);
    for (ReplayGraph::Node& node : m_graph.m_nodes)
        if (const std::int64_t usual = shortest[node.name.value]; node.endsAfter && usual != kNone)
            node.own = std::min(node.duration, usual);
}

/// @return false if it was stopped
bool ReplayBuilder::addSequences()
{
    std::map<std::int64_t, std::vector<Entry>> processes;
    for (const Track& track : m_trace.tracks())
        if (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread)
            collect(track, processes[track.pid]);
    std::size_t pieces = 0; // upper bound: reserved memory that is not used costs nothing
    for (const auto& [pid, entries] : processes)
        pieces += 2 * entries.size() + 1;
    for (const Track& track : m_trace.tracks())
        pieces += track.kind == TrackKind::Stream ? m_trace.sliceCount(track.id) : 0;
    m_graph.m_nodes.reserve(pieces);
    for (auto& [pid, entries] : processes)
        addThreadBuffer(std::move(entries), ReplayWork::Where::Host);
    for (const Track& track : m_trace.tracks())
        if (track.kind == TrackKind::LoaderWorker) {
            std::vector<Entry> entries;
            collect(track, entries);
            addThreadBuffer(std::move(entries), ReplayWork::Where::Loader);
        }
    sortRuns(m_launches, earlier);
    for (const Track& track : m_trace.tracks())
        if (track.kind == TrackKind::Stream)
            addStream(track);
    return !stopped();
}

ReplayGraph ReplayBuilder::build(const std::vector<Step>& steps)
{
    if (!addSequences())
        return {};
    linkWaits();
    if (stopped())
        return {};
    for (const Step& step : steps)
        m_graph.m_steps.push_back(step.range);
    return std::move(m_graph);
}

ReplayGraph ReplayGraph::of(const Trace& trace, const std::vector<Step>& steps,
                            const std::function<bool(const SliceView&)>& alsoCut, const std::stop_token& stop)
{
    return ReplayBuilder(trace, alsoCut, stop).build(steps);
}

} // namespace profiler::analysis
