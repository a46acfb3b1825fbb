#include "app/timeline/timeline_groups.h"

#include "app/look/display_text.h"

#include <QCollator>
#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace app {

using profiler::Trace;
using profiler::Track;
using profiler::TrackKind;

namespace {

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
// A track is initially collapsed if its slices cover less of the time than the first share, and less than the second
// share of what the busiest track of its kind covers.
constexpr double kQuiet = 0.005, kQuietToOthers = 0.1;
constexpr std::size_t kManyThreads = 4; ///< more other threads than this are initially collapsed
constexpr std::size_t kManyRanks = 4;   ///< more processes with devices than this are initially collapsed
/// Of Linux. Larger numbers only tell processes apart: those of merged ranks whose ids are the same on their hosts.
constexpr std::int64_t kLargestProcessId = 1 << 22;

QString text(const char* source)
{
    return QCoreApplication::translate("TrackRows", source);
}

/// Groups within a process, top to bottom. Their numbers are part of saved keys, so append new ones at the end.
enum Rank { Workers = 0, Main = 1, Threads = 2, Device = 3, Counters = 4, Nvtx = 5, kRanks };
constexpr Rank kDisplayOrder[] = {Workers, Main, Threads, Nvtx, Device, Counters};

Rank rankOf(TrackKind kind)
{
    switch (kind) {
    case TrackKind::LoaderWorker:
        return Workers;
    case TrackKind::MainThread:
        return Main;
    case TrackKind::Thread:
        return Threads;
    case TrackKind::NvtxDomain:
        return Nvtx;
    case TrackKind::Stream:
    case TrackKind::Annotation:
        return Device;
    case TrackKind::Counter:
        return Counters;
    }
    return Threads;
}

QString groupName(Rank rank, std::uint32_t device)
{
    static constexpr const char* kNames[kRanks] = {
        QT_TRANSLATE_NOOP("TrackRows", "Loader workers"), QT_TRANSLATE_NOOP("TrackRows", "Main threads"),
        QT_TRANSLATE_NOOP("TrackRows", "Other threads"),  QT_TRANSLATE_NOOP("TrackRows", "GPU %1"),
        QT_TRANSLATE_NOOP("TrackRows", "Counters"),       QT_TRANSLATE_NOOP("TrackRows", "NVTX ranges")};
    const QString name = text(kNames[rank]);
    return rank == Device ? name.arg(device) : name;
}

/// Builds the tree of one trace.
class Tree {
public:
    explicit Tree(const Trace& trace) : m_trace(trace)
    {
        m_byNumber.setNumericMode(true);
        for (const Track& track : trace.tracks())
            if (rankOf(track.kind) != Device)
                m_hosts.insert(track.pid);
        for (const Track& track : trace.tracks())
            if (const auto pid = processOf(track);
                pid != 0 && std::find(m_processes.begin(), m_processes.end(), pid) == m_processes.end())
                m_processes.push_back(pid);
        for (const Track& track : trace.tracks())
            if (const auto pid = processOf(track);
                pid != 0 && rankOf(track.kind) == Device && trace.sliceCount(track.id) > 0)
                m_withDevices.insert(pid);
        if (!trace.range().empty())
            for (const Track& track : trace.tracks())
                if (track.kind != TrackKind::Counter && trace.sliceCount(track.id) > 0) {
                    const double busy = m_busy[track.id] = busyShare(track);
                    double& busiest = m_busiest[rankOf(track.kind)];
                    busiest = std::max(busiest, busy);
                }
    }

    std::vector<RowNode> make()
    {
        std::map<std::int64_t, Sorted> found;
        for (const Track& track : m_trace.tracks())
            if (track.kind == TrackKind::Counter || m_trace.sliceCount(track.id) > 0) {
                const Rank rank = rankOf(track.kind);
                found[several() ? processOf(track) : 0][{rank, rank == Device ? track.device.value : 0}].push_back(
                    &track);
            }
        std::vector<RowNode> top;
        for (auto& [pid, groups] : found)
            if (pid != 0)
                top.push_back(process(pid, groups));
        // Tracks without a process (streams and counters of some recorders) come last, or are the only ones.
        if (const auto rest = found.find(0); rest != found.end())
            for (RowNode& node : nodesOf(rest->second, {}))
                top.push_back(std::move(node));
        std::stable_sort(top.begin(), top.end(),
                         [this](const RowNode& a, const RowNode& b) { return wishOf(a) < wishOf(b); });
        return top;
    }

private:
    using Sorted = std::map<std::pair<Rank, std::uint32_t>, std::vector<const Track*>>;

    /// The sort index of the process or device of a node in the file; counters next to them, and processes that have
    /// only counters, like those of the machine, come last. A group of several processes ("Other threads" contains
    /// PyTorch's own spans, of a process without a sort index) is placed with its last one.
    [[nodiscard]] std::int64_t wishOf(const RowNode& node) const
    {
        if (node.kind == RowNode::Kind::Counter)
            return kLast;
        if (node.kind == RowNode::Kind::Track)
            return m_trace.track(node.track).processSortIndex;
        std::optional<std::int64_t> wish;
        for (const RowNode& child : node.children)
            if (const std::int64_t own = wishOf(child); own != kLast)
                wish = std::max(wish.value_or(own), own);
        return wish.value_or(kLast);
    }

    [[nodiscard]] bool several() const { return m_processes.size() > 1; }

    /// PyTorch's profiler assigns each GPU a process whose number is the device's; this is not a real process.
    [[nodiscard]] std::int64_t processOf(const Track& track) const
    {
        const bool made =
            rankOf(track.kind) == Device && track.pid == track.device.value && !m_hosts.contains(track.pid);
        return made ? 0 : track.pid;
    }

    RowNode process(std::int64_t pid, Sorted& groups)
    {
        const auto place = std::find(m_processes.begin(), m_processes.end(), pid) - m_processes.begin();
        RowNode node;
        node.key = QStringLiteral("process/%1").arg(place);
        node.name = text("Process %1").arg(pid);
        for (const auto& [key, tracks] : groups)
            for (const Track* track : tracks)
                if (!track->processName.empty())
                    node.name = pid > kLargestProcessId
                                    ? asQString(track->processName)
                                    : QStringLiteral("%1 (%2)").arg(asQString(track->processName)).arg(pid);
        node.children = nodesOf(groups, node.key + '/');
        node.startsFolded = m_withDevices.size() > kManyRanks && m_withDevices.contains(pid);
        if (node.children.size() == 1 && node.children[0].kind != RowNode::Kind::Group) {
            node.children[0].name.prepend(node.name + QStringLiteral(" · "));
            return std::move(node.children[0]);
        }
        return node;
    }

    std::vector<RowNode> nodesOf(Sorted& groups, const QString& prefix)
    {
        std::vector<RowNode> nodes;
        for (const Rank rank : kDisplayOrder)
            for (auto& [key, tracks] : groups)
                if (key.first == rank)
                    addGroup(nodes, rank, key.second, tracks, prefix);
        return nodes;
    }

    void addGroup(std::vector<RowNode>& nodes, Rank rank, std::uint32_t device, std::vector<const Track*>& tracks,
                  const QString& prefix)
    {
        std::stable_sort(tracks.begin(), tracks.end(), [this](const Track* a, const Track* b) {
            const bool first = a->kind == TrackKind::Annotation, second = b->kind == TrackKind::Annotation;
            if (first != second)
                return first;
            if (a->sortIndex != b->sortIndex)
                return a->sortIndex < b->sortIndex;
            return m_byNumber.compare(asQString(a->name), asQString(b->name)) < 0;
        });
        RowNode group;
        group.key = prefix + QStringLiteral("group/%1/%2").arg(static_cast<int>(rank)).arg(device);
        group.name = groupName(rank, device);
        group.startsFolded = rank == Threads && tracks.size() > kManyThreads;
        if (rank == Device)
            for (const profiler::Device& known : m_trace.devices())
                if (known.id.value == device && asQString(known.name) != group.name)
                    group.detail = asQString(known.name);
        for (const Track* track : tracks)
            group.children.push_back(leaf(*track, prefix));
        // A group in which hardly anything happens.
        group.startsFolded = group.startsFolded || std::all_of(group.children.begin(), group.children.end(),
                                                               [](const RowNode& child) { return child.startsFolded; });
        if (rank == Main || (rank == Threads && tracks.size() == 1))
            std::move(group.children.begin(), group.children.end(), std::back_inserter(nodes));
        else
            nodes.push_back(std::move(group));
    }

    RowNode leaf(const Track& track, const QString& prefix)
    {
        RowNode node;
        node.kind = track.kind == TrackKind::Counter ? RowNode::Kind::Counter : RowNode::Kind::Track;
        node.name = asQString(track.name);
        node.track = track.id;
        const QString key = prefix + QStringLiteral("track/%1/%2/%3")
                                         .arg(static_cast<int>(rankOf(track.kind)))
                                         .arg(track.device.value)
                                         .arg(node.name);
        node.key = key;
        for (int i = 2; !m_keys.insert(node.key).second; ++i) // threads with the same name
            node.key = key + '#' + QString::number(i);
        node.startsFolded = isQuiet(track);
        if (track.kind == TrackKind::Counter)
            node.detail = asQString(track.unit);
        else if (track.tid != 0 && !node.name.contains(QString::number(track.tid))) // do not show it twice
            node.detail = text("thread %1").arg(track.tid);
        return node;
    }

    /// Share of the time that a track's slices cover.
    [[nodiscard]] double busyShare(const Track& track) const
    {
        std::array<profiler::LodBucket, 64> buckets{};
        m_trace.summarize(track.id, 0, m_trace.range(), buckets, profiler::LodEdges::Coarse);
        return std::accumulate(buckets.begin(), buckets.end(), 0.0,
                               [](double sum, const profiler::LodBucket& b) { return sum + b.busy; }) /
               static_cast<double>(buckets.size());
    }

    /// A track in which hardly anything happens, while others of its kind are busier. While a trace grows, a track may
    /// become busy later.
    [[nodiscard]] bool isQuiet(const Track& track) const
    {
        const auto busy = m_busy.find(track.id);
        if (busy == m_busy.end() || m_trace.captureStats().live)
            return false;
        const double busiest = m_busiest.at(rankOf(track.kind));
        return busy->second < kQuiet && busy->second < kQuietToOthers * busiest;
    }

    const Trace& m_trace;
    QCollator m_byNumber{QLocale::English};
    std::vector<std::int64_t> m_processes; ///< in order of first appearance
    std::set<std::int64_t> m_withDevices;  ///< processes that keep a device busy
    std::set<std::int64_t> m_hosts;        ///< processes with threads or counters
    std::set<QString> m_keys;
    std::map<profiler::TrackId, double> m_busy; ///< share of the time; not of counters
    std::map<Rank, double> m_busiest;           ///< the most of each kind
};

} // namespace

std::vector<RowNode> rowTree(const Trace& trace)
{
    return Tree(trace).make();
}

} // namespace app
