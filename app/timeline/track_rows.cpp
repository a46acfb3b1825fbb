#include "app/timeline/track_rows.h"

#include <QCoreApplication>
#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <array>
#include <iterator>
#include <list>

namespace app {

using profiler::TrackId;

namespace {

constexpr int kLargestSize = 10'000;

QJsonArray listOf(const std::set<QString>& keys)
{
    QJsonArray list;
    for (const QString& key : keys)
        list.append(key);
    return list;
}

std::set<QString> setOf(const QJsonValue& list)
{
    std::set<QString> keys;
    for (const QJsonValue key : list.toArray())
        if (key.isString())
            keys.insert(key.toString());
    return keys;
}

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

/// Names of hidden nodes; the children of a hidden group are included in it.
void collectHidden(const std::vector<RowNode>& nodes, const RowLayout& layout,
                   std::vector<std::pair<QString, QString>>& found)
{
    for (const RowNode& node : nodes)
        if (layout.hidden.contains(node.key))
            found.emplace_back(node.key, node.name);
        else
            collectHidden(node.children, layout, found);
}

} // namespace

QByteArray RowLayout::toJson() const
{
    QJsonObject opened, sized, ordered;
    for (const auto& [key, isOpen] : open)
        opened[key] = isOpen;
    for (const auto& [key, size] : sizes)
        sized[key] = size;
    for (const auto& [parent, children] : order)
        ordered[parent] = QJsonArray::fromStringList(children);
    const QJsonObject all{
        {"open", opened}, {"hidden", listOf(hidden)}, {"pinned", listOf(pinned)}, {"sizes", sized}, {"order", ordered}};
    return QJsonDocument(all).toJson(QJsonDocument::Compact);
}

RowLayout RowLayout::fromJson(const QByteArray& text)
{
    RowLayout layout;
    const QJsonObject all = QJsonDocument::fromJson(text).object();
    const QJsonObject opened = all["open"].toObject(), sized = all["sizes"].toObject(),
                      ordered = all["order"].toObject();
    for (auto at = opened.begin(); at != opened.end(); ++at)
        if (at->isBool())
            layout.open[at.key()] = at->toBool();
    for (auto at = sized.begin(); at != sized.end(); ++at)
        if (const int size = at->toInt(); size > 0 && size <= kLargestSize)
            layout.sizes[at.key()] = size;
    for (auto at = ordered.begin(); at != ordered.end(); ++at) {
        QStringList children;
        for (const QJsonValue child : at->toArray())
            if (child.isString())
                children.append(child.toString());
        children.removeDuplicates();
        if (!children.isEmpty())
            layout.order[at.key()] = children;
    }
    layout.hidden = setOf(all["hidden"]);
    layout.pinned = setOf(all["pinned"]);
    return layout;
}

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

// User changes to rows: order, hiding, pins, sizes.

/// Sorts siblings in the user's order. A sibling without a position follows its default predecessor.
void TrackRows::arrange(std::vector<RowNode>& nodes, const QString& parent)
{
    if (const auto order = m_layout.order.find(parent); order != m_layout.order.end()) {
        QHash<QString, RowNode*> byKey;
        for (RowNode& node : nodes)
            byKey.insert(node.key, &node);
        std::list<RowNode*> places;
        QHash<QString, std::list<RowNode*>::iterator> known;
        for (const QString& key : order->second)
            if (RowNode* node = byKey.value(key); node && !known.contains(key))
                known.insert(key, places.insert(places.end(), node));
        auto after = places.begin();
        for (RowNode& node : nodes) {
            const auto place = known.constFind(node.key);
            after = std::next(place == known.constEnd() ? places.insert(after, &node) : *place);
        }
        std::vector<RowNode> arranged;
        for (RowNode* node : places)
            arranged.push_back(std::move(*node));
        nodes = std::move(arranged);
    }
    for (RowNode& node : nodes)
        arrange(node.children, node.key);
}

std::vector<std::pair<QString, QString>> TrackRows::hidden() const
{
    std::vector<std::pair<QString, QString>> found;
    collectHidden(m_tree, m_layout, found);
    return found;
}

void TrackRows::addHiddenLine()
{
    const auto count = static_cast<int>(hidden().size());
    if (count == 0)
        return;
    TrackRow row;
    row.kind = TrackRow::Kind::Hidden;
    row.key = QStringLiteral("hidden");
    row.name = QCoreApplication::translate("TrackRows", "%n hidden – show all", nullptr, count)
                   .replace(QStringLiteral("%n"), QString::number(count));
    row.top = height();
    row.height = kGroupHeight;
    m_rows.push_back(std::move(row));
}

void TrackRows::hide(int row)
{
    if (at(row).kind == TrackRow::Kind::Hidden)
        return;
    m_layout.hidden.insert(at(row).key);
    rebuild();
}

void TrackRows::show(const QString& key)
{
    m_layout.hidden.erase(key);
    rebuild();
}

void TrackRows::showAll()
{
    m_layout.hidden.clear();
    rebuild();
}

void TrackRows::setPinned(int row, bool pinned)
{
    if (at(row).kind == TrackRow::Kind::Hidden)
        return;
    if (pinned)
        m_layout.pinned.insert(at(row).key);
    else
        m_layout.pinned.erase(at(row).key);
    rebuild();
}

/// Siblings of a row including itself, in order.
std::vector<int> TrackRows::siblings(int row) const
{
    const TrackRow& which = at(row);
    std::vector<int> found;
    for (int i = 0; i < count(); ++i)
        if (at(i).kind != TrackRow::Kind::Hidden && at(i).parent == which.parent && at(i).pinned == which.pinned &&
            at(i).indent == which.indent)
            found.push_back(i);
    return found;
}

/// The row after the last one that belongs to `row`.
int TrackRows::blockEnd(int row) const
{
    int end = row + 1;
    while (end < count() && at(end).kind != TrackRow::Kind::Hidden && at(end).pinned == at(row).pinned &&
           at(end).indent > at(row).indent)
        ++end;
    return end;
}

bool TrackRows::move(int row, int by)
{
    if (at(row).kind == TrackRow::Kind::Hidden)
        return false;
    const std::vector<int> all = siblings(row);
    const auto here = static_cast<int>(std::find(all.begin(), all.end(), row) - all.begin());
    const int there = here + by, last = static_cast<int>(all.size()) - 1;
    if (there < 0 || there > last)
        return false;
    const int next = by > 0 ? there + 1 : there;
    place(row, next > last ? QString() : at(all[static_cast<std::size_t>(next)]).key);
    return true;
}

std::optional<TrackRows::Drop> TrackRows::dropAt(int row, int y) const
{
    if (at(row).kind == TrackRow::Kind::Hidden)
        return std::nullopt;
    const std::vector<int> all = siblings(row);
    for (const int sibling : all) {
        const int top = at(sibling).top, end = at(blockEnd(sibling) - 1).bottom();
        if (y < (top + end) / 2)
            return Drop{at(sibling).key, top};
    }
    return Drop{{}, at(blockEnd(all.back()) - 1).bottom()};
}

void TrackRows::drop(int row, const Drop& where)
{
    if (where.before != at(row).key)
        place(row, where.before);
}

void TrackRows::place(int row, const QString& before)
{
    const QString key = at(row).key, parent = at(row).parent;
    // The complete order of the siblings, including hidden and pinned ones.
    const std::vector<RowNode>* nodes = &m_tree;
    std::vector<const std::vector<RowNode>*> open{&m_tree};
    while (!parent.isEmpty() && !open.empty()) {
        const std::vector<RowNode>* level = open.back();
        open.pop_back();
        for (const RowNode& node : *level) {
            if (node.key == parent)
                nodes = &node.children;
            open.push_back(&node.children);
        }
    }
    QStringList order;
    for (const RowNode& node : *nodes)
        if (node.key != key)
            order.append(node.key);
    const qsizetype where = before.isEmpty() ? -1 : order.indexOf(before);
    if (where >= 0)
        order.insert(where, key);
    else if (const std::vector<int> all = siblings(row); at(all.back()).key != key)
        order.insert(order.indexOf(at(all.back()).key) + 1, key);
    else
        return;
    m_layout.order[parent] = order;
    rebuild();
}

bool TrackRows::resizable(int row) const
{
    const TrackRow& which = at(row);
    return which.kind == TrackRow::Kind::Counter ||
           (which.kind == TrackRow::Kind::Track && which.open && which.depths > 1);
}

void TrackRows::resize(int row, int height)
{
    if (!resizable(row))
        return;
    const TrackRow& which = at(row);
    if (which.kind == TrackRow::Kind::Counter) {
        m_layout.sizes[which.key] = std::clamp(height, kLeastCounter, kMostCounter);
    } else {
        const int lanes =
            std::clamp((height - 2 * kPadding + which.laneHeight / 2) / which.laneHeight, 1, which.depths);
        if (lanes == which.depths)
            m_layout.sizes.erase(which.key);
        else
            m_layout.sizes[which.key] = lanes;
    }
    rebuild();
}

} // namespace app
