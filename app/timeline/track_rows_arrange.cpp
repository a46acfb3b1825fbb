#include "app/timeline/track_rows.h"

#include <QCoreApplication>
#include <QHash>
#include <algorithm>
#include <iterator>
#include <list>

// User changes to rows: order, hiding, pins, sizes.
namespace app {

namespace {

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
