#include "app/widgets/track_rows.h"

#include <QCollator>
#include <QCoreApplication>
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace app {

using profiler::Track;
using profiler::TrackId;
using profiler::TrackKind;

namespace {

constexpr int kManyThreads = 4; ///< more other threads than this start folded

QString text(const char* source)
{
    return QCoreApplication::translate("TrackRows", source);
}

QString fromView(std::string_view view)
{
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

int rankOf(TrackKind kind)
{
    switch (kind) {
    case TrackKind::LoaderWorker:
        return 0;
    case TrackKind::MainThread:
        return 1;
    case TrackKind::Thread:
        return 2;
    case TrackKind::Stream:
        return 3;
    case TrackKind::Counter:
        return 4;
    }
    return 4;
}

QString trackKey(const Track& track)
{
    return QStringLiteral("track/%1/%2/%3/%4")
        .arg(track.pid)
        .arg(rankOf(track.kind))
        .arg(track.device.value)
        .arg(fromView(track.name));
}

} // namespace

struct TrackRows::Group {
    int rank = 0;
    std::uint32_t device = 0;
    QString name, detail;
    std::vector<TrackId> tracks;
};

int TrackRow::laneTop(int depth) const
{
    return top + TrackRows::kPadding + (depth - firstDepth) * TrackRows::kLaneHeight;
}

void TrackRows::setTrace(const std::shared_ptr<const profiler::Trace>& trace)
{
    m_trace = trace;
    rebuild();
}

int TrackRows::height() const
{
    return m_rows.empty() ? 0 : m_rows.back().top + m_rows.back().height;
}

int TrackRows::rowAt(int y) const
{
    const auto after =
        std::upper_bound(m_rows.begin(), m_rows.end(), y, [](int at, const TrackRow& r) { return at < r.top; });
    if (after == m_rows.begin() || y >= height())
        return -1;
    return static_cast<int>(after - m_rows.begin()) - 1;
}

int TrackRows::rowOf(TrackId track) const
{
    int group = -1;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const TrackRow& row = m_rows[i];
        if (row.kind == TrackRow::Kind::Group) {
            if (!row.open && std::find(row.members.begin(), row.members.end(), track) != row.members.end())
                group = static_cast<int>(i);
        } else if (row.track == track) {
            return static_cast<int>(i);
        }
    }
    return group;
}

std::optional<TrackRows::Lane> TrackRows::laneAt(int y) const
{
    const int index = rowAt(y);
    if (index < 0)
        return std::nullopt;
    const TrackRow& row = m_rows[static_cast<std::size_t>(index)];
    const int inside = y - row.laneTop(row.firstDepth);
    const int lane = inside / kLaneHeight;
    if (row.kind != TrackRow::Kind::Track || inside < 0 || lane >= row.lanes)
        return std::nullopt;
    return Lane{row.track, row.firstDepth + lane};
}

bool TrackRows::shows(TrackId track, int depth) const
{
    const int index = rowOf(track);
    if (index < 0)
        return false;
    const TrackRow& row = m_rows[static_cast<std::size_t>(index)];
    return row.kind == TrackRow::Kind::Track && row.showsDepth(depth);
}

void TrackRows::setOpen(int row, bool open)
{
    const TrackRow& which = m_rows[static_cast<std::size_t>(row)];
    if (!which.foldable || which.open == open)
        return;
    if (open)
        m_folded.erase(which.key);
    else
        m_folded.insert(which.key);
    rebuild();
}

void TrackRows::setAllOpen(bool open)
{
    m_folded.clear();
    if (!open)
        for (const TrackRow& row : m_rows)
            if (row.foldable)
                m_folded.insert(row.key);
    rebuild();
}

void TrackRows::reveal(TrackId track, int depth)
{
    if (!m_trace || track.value >= m_trace->tracks().size())
        return;
    for (const TrackRow& row : m_rows)
        if (row.kind == TrackRow::Kind::Group &&
            std::find(row.members.begin(), row.members.end(), track) != row.members.end())
            m_folded.erase(row.key);
    rebuild();
    if (!shows(track, depth)) {
        m_folded.erase(trackKey(m_trace->track(track)));
        rebuild();
    }
}

std::vector<TrackRows::Group> TrackRows::groups() const
{
    // Streams and counters carry no process where the recorder did not know it: they come last, or with the only one.
    constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
    std::set<std::int64_t> processes;
    for (const Track& track : m_trace->tracks())
        if (track.pid != 0)
            processes.insert(track.pid);
    const bool several = processes.size() > 1;
    std::map<std::tuple<std::int64_t, int, std::uint32_t>, Group> found;
    for (const Track& track : m_trace->tracks()) {
        const bool counter = track.kind == TrackKind::Counter;
        if (!counter && m_trace->sliceCount(track.id) == 0)
            continue;
        const int rank = rankOf(track.kind);
        const std::int64_t process = !several ? 0 : track.pid == 0 ? kLast : track.pid;
        Group& group = found[{process, rank, track.kind == TrackKind::Stream ? track.device.value : 0}];
        if (several && track.pid != 0)
            group.name = text("Process %1 · ").arg(track.pid);
        group.rank = rank;
        group.device = track.device.value;
        group.tracks.push_back(track.id);
    }
    std::vector<Group> sorted;
    QCollator byNumber(QLocale::English);
    byNumber.setNumericMode(true);
    for (auto& [key, group] : found) {
        std::stable_sort(group.tracks.begin(), group.tracks.end(), [&](TrackId a, TrackId b) {
            return byNumber.compare(fromView(m_trace->track(a).name), fromView(m_trace->track(b).name)) < 0;
        });
        sorted.push_back(std::move(group));
    }
    return sorted;
}

void TrackRows::addTrack(TrackId id, int indent)
{
    const Track& track = m_trace->track(id);
    TrackRow row;
    row.track = id;
    row.key = trackKey(track);
    row.name = fromView(track.name);
    row.indent = indent;
    if (track.tid != 0)
        row.detail = text("thread %1").arg(track.tid);
    if (track.kind == TrackKind::Counter) {
        row.kind = TrackRow::Kind::Counter;
        row.detail = fromView(track.unit);
        row.height = kCounterHeight;
    } else {
        const int depths = m_trace->depthCount(id);
        row.foldable = depths > 1;
        row.open = !row.foldable || isOpen(row.key);
        row.lanes = row.open ? depths : 1;
        row.firstDepth = !row.open && track.kind == TrackKind::MainThread ? 1 : 0;
        row.height = 2 * kPadding + row.lanes * kLaneHeight;
    }
    row.top = height();
    m_rows.push_back(std::move(row));
}

void TrackRows::addGroup(Group group)
{
    static constexpr const char* kNames[] = {QT_TRANSLATE_NOOP("TrackRows", "Loader workers"), "",
                                             QT_TRANSLATE_NOOP("TrackRows", "Other threads"), "",
                                             QT_TRANSLATE_NOOP("TrackRows", "Counters")};
    TrackRow row;
    row.kind = TrackRow::Kind::Group;
    row.key = QStringLiteral("group/%1%2/%3").arg(group.name).arg(group.rank).arg(group.device);
    row.name = group.name + (group.rank == 3 ? text("GPU %1").arg(group.device) : text(kNames[group.rank]));
    row.detail = group.detail;
    row.members = group.tracks;
    row.foldable = true;
    if (m_seen.insert(row.key).second && group.rank == 2 && group.tracks.size() > kManyThreads)
        m_folded.insert(row.key);
    row.open = isOpen(row.key);
    row.top = height();
    row.height = kGroupHeight;
    m_rows.push_back(std::move(row));
    if (m_rows.back().open)
        for (const TrackId track : group.tracks)
            addTrack(track, 1);
}

void TrackRows::rebuild()
{
    ++m_revision;
    m_rows.clear();
    if (!m_trace)
        return;
    std::vector<Group> found = groups();
    for (Group& group : found) {
        if (group.rank == 3)
            for (const profiler::Device& device : m_trace->devices())
                if (device.id.value == group.device)
                    group.detail = fromView(device.name);
        if (group.rank == 1 || (group.rank == 2 && group.tracks.size() == 1))
            for (const TrackId track : group.tracks) {
                addTrack(track, 0);
                m_rows.back().name.prepend(group.name);
            }
        else
            addGroup(std::move(group));
    }
}

} // namespace app
