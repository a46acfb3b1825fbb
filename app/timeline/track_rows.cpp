#include "app/timeline/track_rows.h"

#include <algorithm>
#include <array>

namespace app {

using profiler::TrackId;

namespace {

bool contains(const std::vector<TrackId>& tracks, TrackId track)
{
    return std::find(tracks.begin(), tracks.end(), track) != tracks.end();
}

/// Calls visit(node) for every node below and among `nodes`.
template <class Visit>
void forEachNode(const std::vector<RowNode>& nodes, const Visit& visit)
{
    for (const RowNode& node : nodes) {
        visit(node);
        forEachNode(node.children, visit);
    }
}

enum TrackField : int { Name, Kind, Gpu, Stream, Process, Thread };

TableValue valueOf(const profiler::Track& track, const QString& name, int field)
{
    using profiler::TrackKind;
    const bool ofDevice = track.kind == TrackKind::Stream || track.kind == TrackKind::Annotation;
    const auto count = [](bool known, std::int64_t value) { return known ? TableValue::ofCount(value) : TableValue(); };
    switch (field) {
    case Kind: {
        constexpr std::array<const char*, profiler::kTrackKinds> kNames = {"thread",  "main", "loader",     "stream",
                                                                           "counter", "nvtx", "annotations"};
        return TableValue::ofText(QString::fromLatin1(kNames[static_cast<std::size_t>(track.kind)]));
    }
    case Gpu:
        return count(ofDevice, track.device.value);
    case Stream:
        return count(ofDevice, track.stream.value);
    case Process:
        return count(track.pid != 0, track.pid);
    case Thread:
        return count(track.tid != 0, track.tid);
    default:
        return TableValue::ofText(name);
    }
}

/// Keys of the node of a track and of its parent groups; empty if it has none.
bool pathTo(const std::vector<RowNode>& nodes, TrackId track, std::vector<QString>& path)
{
    for (const RowNode& node : nodes) {
        path.push_back(node.key);
        if ((node.kind != RowNode::Kind::Group && node.track == track) || pathTo(node.children, track, path))
            return true;
        path.pop_back();
    }
    return false;
}

} // namespace

std::vector<FilterField> trackFilterFields()
{
    using Unit = TableValue::Unit;
    return {{Name, "name", Unit::Text},      {Kind, "kind", Unit::Text},        {Gpu, "gpu", Unit::Count},
            {Stream, "stream", Unit::Count}, {Process, "process", Unit::Count}, {Thread, "thread", Unit::Count}};
}

int TrackRow::laneTop(int depth) const
{
    return top + TrackRows::kPadding + (depth - firstDepth) * laneHeight;
}

void TrackRows::setTrace(const std::shared_ptr<const profiler::Trace>& trace)
{
    m_trace = trace;
    m_tree = trace ? rowTree(*trace) : std::vector<RowNode>{};
    forEachNode(m_tree, [this](const RowNode& node) { m_firstOpen.try_emplace(node.key, !node.startsFolded); });
    rebuild();
}

void TrackRows::setLayout(RowLayout layout)
{
    m_layout = std::move(layout);
    if (m_trace)
        m_tree = rowTree(*m_trace);
    rebuild();
}

void TrackRows::setFilter(Filter filter)
{
    m_filter = std::move(filter);
    m_droppedFilter = false;
    rebuild();
}

void TrackRows::fill(int height)
{
    int lanes = 0, counters = 0, fixed = 0;
    for (const TrackRow& row : m_rows) {
        const bool counts = row.kind == TrackRow::Kind::Counter && !m_layout.sizes.contains(row.key);
        lanes += row.lanes;
        counters += counts;
        fixed += counts ? 0 : row.height - row.lanes * row.laneHeight;
    }
    const int room = height - fixed, smallest = lanes * kLaneHeight + counters * kCounterHeight;
    int laneHeight = kLaneHeight, counterHeight = kCounterHeight;
    if (smallest > 0 && room > smallest) {
        laneHeight = std::min(kLaneHeight * room / smallest, kMostStretch * kLaneHeight);
        if (counters > 0)
            counterHeight = std::min((room - lanes * laneHeight) / counters, kMostStretch * kCounterHeight);
    }
    if (laneHeight == m_laneHeight && counterHeight == m_counterHeight)
        return;
    m_laneHeight = laneHeight;
    m_counterHeight = counterHeight;
    rebuild();
}

int TrackRows::height() const
{
    return m_rows.empty() ? 0 : m_rows.back().bottom();
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
    for (int i = 0; i < count(); ++i) {
        const TrackRow& row = at(i);
        if (row.kind == TrackRow::Kind::Group ? !row.open && contains(row.members, track)
                                              : row.kind != TrackRow::Kind::Hidden && row.track == track)
            return i;
    }
    return -1;
}

int TrackRows::rowOfKey(const QString& key) const
{
    const auto row = std::find_if(m_rows.begin(), m_rows.end(), [&](const TrackRow& r) { return r.key == key; });
    return row == m_rows.end() ? -1 : static_cast<int>(row - m_rows.begin());
}

std::optional<TrackRows::Lane> TrackRows::laneAt(int y) const
{
    const int index = rowAt(y);
    if (index < 0)
        return std::nullopt;
    const TrackRow& row = at(index);
    const int inside = y - row.laneTop(row.firstDepth);
    if (row.kind != TrackRow::Kind::Track || inside < 0 || inside >= row.lanes * row.laneHeight)
        return std::nullopt;
    const int lane = inside / row.laneHeight;
    return Lane{row.track, row.firstDepth + lane};
}

bool TrackRows::shows(TrackId track, int depth) const
{
    const int index = rowOf(track);
    return index >= 0 && at(index).kind == TrackRow::Kind::Track && at(index).showsDepth(depth);
}

void TrackRows::setOpen(int row, bool open)
{
    const TrackRow& which = at(row);
    if (!which.foldable || which.open == open)
        return;
    m_layout.open[which.key] = open;
    rebuild();
}

void TrackRows::setAllOpen(bool open)
{
    forEachNode(m_tree, [&](const RowNode& node) {
        if (node.kind != RowNode::Kind::Counter)
            m_layout.open[node.key] = open;
    });
    rebuild();
}

void TrackRows::reveal(TrackId track, int depth)
{
    std::vector<QString> path;
    if (!pathTo(m_tree, track, path))
        return;
    if (!m_filter.empty() && !m_matching.contains(path.back())) {
        m_filter.clear();
        m_droppedFilter = true;
    }
    for (const QString& key : path)
        m_layout.hidden.erase(key);
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
        if (const auto open = m_layout.open.find(path[i]); open != m_layout.open.end() || !m_firstOpen[path[i]])
            m_layout.open[path[i]] = true;
    rebuild();
    if (shows(track, depth))
        return;
    m_layout.open[path.back()] = true;
    m_layout.sizes.erase(path.back());
    rebuild();
}

/// True if neither the user nor the filter hides the node, and it is not pinned elsewhere.
bool TrackRows::shows(const RowNode& node, bool pinned) const
{
    if (m_layout.hidden.contains(node.key) || (!pinned && m_layout.pinned.contains(node.key)))
        return false;
    return pinned || m_filter.empty() || m_matching.contains(node.key);
}

bool TrackRows::isOpen(const RowNode& node) const
{
    if (!m_filter.empty() && node.kind == RowNode::Kind::Group)
        return true;
    if (const auto set = m_layout.open.find(node.key); set != m_layout.open.end())
        return set->second;
    const auto first = m_firstOpen.find(node.key);
    return first == m_firstOpen.end() || first->second;
}

void TrackRows::addTrack(const RowNode& node, TrackRow& row) const
{
    const auto size = m_layout.sizes.find(node.key);
    if (node.kind == RowNode::Kind::Counter) {
        row.kind = TrackRow::Kind::Counter;
        row.height =
            size == m_layout.sizes.end() ? m_counterHeight : std::clamp(size->second, kLeastCounter, kMostCounter);
        return;
    }
    row.depths = m_trace->depthCount(node.track);
    row.foldable = row.depths > 1;
    row.open = !row.foldable || isOpen(node);
    const int most = size == m_layout.sizes.end() ? row.depths : std::clamp(size->second, 1, row.depths);
    row.lanes = row.open ? most : 1;
    const bool main = m_trace->track(node.track).kind == profiler::TrackKind::MainThread;
    row.firstDepth = !row.open && main ? 1 : 0;
    row.laneHeight = m_laneHeight;
    row.height = 2 * kPadding + row.lanes * row.laneHeight;
}

/// Adds the row of a node and those below it; false if none of them is visible.
bool TrackRows::add(const RowNode& node, const Place& place)
{
    if (!shows(node, place.pinned))
        return false;
    TrackRow row;
    row.key = node.key;
    row.parent = place.parent;
    row.name = node.name;
    row.detail = place.around.isEmpty() ? node.detail : place.around;
    row.track = node.track;
    row.indent = place.indent;
    row.pinned = place.pinned;
    row.top = height();
    if (node.kind != RowNode::Kind::Group) {
        addTrack(node, row);
        m_rows.push_back(std::move(row));
        return true;
    }
    row.kind = TrackRow::Kind::Group;
    row.height = kGroupHeight;
    row.foldable = true;
    row.open = isOpen(node);
    bool any = false;
    forEachNode(node.children, [&](const RowNode& child) {
        if (child.kind != RowNode::Kind::Group)
            row.members.push_back(child.track);
    });
    const bool open = row.open;
    const std::size_t mine = m_rows.size();
    m_rows.push_back(std::move(row));
    for (const RowNode& child : node.children) {
        const bool shown =
            open ? add(child, {node.key, {}, place.indent + 1, place.pinned}) : shows(child, place.pinned);
        any = any || shown;
    }
    if (!any) // its rows are all hidden or pinned
        m_rows.resize(mine);
    return any;
}

/// Finds the matching tracks.
/// @param above  the names of the groups around the nodes
void TrackRows::match(const std::vector<RowNode>& nodes, const QString& above)
{
    for (const RowNode& node : nodes) {
        const QString name = above + node.name + u' ' + node.detail;
        bool any = false;
        if (node.kind == RowNode::Kind::Group) {
            match(node.children, name + QStringLiteral(" · "));
            any = std::any_of(node.children.begin(), node.children.end(),
                              [&](const RowNode& child) { return m_matching.contains(child.key); });
        } else {
            const profiler::Track& track = m_trace->track(node.track);
            any = std::all_of(m_filter.begin(), m_filter.end(), [&](const FilterCondition& condition) {
                return condition.matches(valueOf(track, name, condition.field));
            });
        }
        if (any)
            m_matching.insert(node.key);
    }
}

void TrackRows::addPinned(const std::vector<RowNode>& nodes, const RowNode& parent)
{
    for (const RowNode& node : nodes) {
        if (m_layout.hidden.contains(node.key))
            continue;
        if (m_layout.pinned.contains(node.key))
            add(node, {parent.key, parent.name, 0, true});
        else
            addPinned(node.children, node);
    }
}

void TrackRows::rebuild()
{
    ++m_revision;
    m_rows.clear();
    m_pinnedHeight = 0;
    if (!m_trace)
        return;
    m_matching.clear();
    if (!m_filter.empty())
        match(m_tree, {});
    arrange(m_tree, {});
    addPinned(m_tree, RowNode{});
    m_pinnedHeight = height();
    for (const RowNode& node : m_tree)
        add(node, {});
    addHiddenLine();
}

} // namespace app
