#include "app/timeline/timeline_canvas.h"

#include <QScrollBar>
#include <algorithm>
#include <cmath>

// User actions on rows: navigate, collapse, move, hide, pin, resize.
namespace app {

namespace {

constexpr int kRowEdge = 3; ///< tolerance in pixels above the lower edge of a row for resizing

} // namespace

int TimelineCanvas::rowAt(double y) const
{
    return y < TimelineScene::kRulerHeight ? -1 : m_scene.rows.rowAt(m_scene.rowsYAt(y));
}

/// The resizable row whose lower edge is at a position in the header; −1: none.
int TimelineCanvas::rowWithEdgeAt(QPointF at) const
{
    if (isEmpty() || at.x() >= m_scene.headerWidth)
        return -1;
    const int row = rowAt(at.y());
    if (row < 0 || !m_scene.rows.resizable(row))
        return -1;
    return m_scene.rows.at(row).bottom() - m_scene.rowsYAt(at.y()) <= kRowEdge ? row : -1;
}

/// The current row stays current at its new position.
template <class Edit>
void TimelineCanvas::editRows(Edit&& edit)
{
    const int current = m_scene.currentRow;
    const QString key = current >= 0 && current < m_scene.rows.count() ? m_scene.rows.at(current).key : QString();
    edit();
    const int now = m_scene.rows.rowOfKey(key);
    m_scene.currentRow = now >= 0 ? now : std::min(current, m_scene.rows.count() - 1);
    m_scene.draggedRow = -1;
    m_scene.dropLine.reset();
    moved();
    emit rowLayoutChanged();
}

void TimelineCanvas::setRowLayout(RowLayout layout)
{
    m_scene.rows.setLayout(std::move(layout));
    m_scene.currentRow = std::min(m_scene.currentRow, m_scene.rows.count() - 1);
    moved();
}

void TimelineCanvas::rowUp()
{
    goToRow(m_scene.currentRow - 1);
}
void TimelineCanvas::rowDown()
{
    goToRow(m_scene.currentRow + 1);
}

void TimelineCanvas::goToRow(int row)
{
    const int last = m_scene.rows.count() - 1;
    m_scene.currentRow = std::clamp(row, std::min(0, last), std::max(last, -1));
    scrollToRow(m_scene.currentRow, 0);
    viewport()->update();
}

void TimelineCanvas::toggleRow()
{
    const int row = m_scene.currentRow;
    if (row < 0 || row >= m_scene.rows.count())
        return;
    if (m_scene.rows.at(row).kind == TrackRow::Kind::Hidden)
        showAllRows();
    else
        editRows([&] { m_scene.rows.setOpen(row, !m_scene.rows.at(row).open); });
}

void TimelineCanvas::foldAll()
{
    editRows([this] { m_scene.rows.setAllOpen(false); });
}
void TimelineCanvas::unfoldAll()
{
    editRows([this] { m_scene.rows.setAllOpen(true); });
}

void TimelineCanvas::moveRow(int by)
{
    if (m_scene.currentRow < 0 || m_scene.currentRow >= m_scene.rows.count())
        return;
    editRows([&] { m_scene.rows.move(m_scene.currentRow, by); });
    scrollToRow(m_scene.currentRow, 0);
}

void TimelineCanvas::moveRowUp()
{
    moveRow(-1);
}
void TimelineCanvas::moveRowDown()
{
    moveRow(1);
}

void TimelineCanvas::hideRow()
{
    if (m_scene.currentRow >= 0 && m_scene.currentRow < m_scene.rows.count())
        editRows([this] { m_scene.rows.hide(m_scene.currentRow); });
}

void TimelineCanvas::togglePin()
{
    const int row = m_scene.currentRow;
    if (row >= 0 && row < m_scene.rows.count())
        editRows([&] { m_scene.rows.setPinned(row, !m_scene.rows.at(row).pinned); });
}

void TimelineCanvas::showAllRows()
{
    editRows([this] { m_scene.rows.showAll(); });
}

void TimelineCanvas::showRow(const QString& key)
{
    editRows([&] { m_scene.rows.show(key); });
}

void TimelineCanvas::resetRows()
{
    editRows([this] { m_scene.rows.setLayout({}); });
}

/// Handles dragging a header, by its lower edge or as a whole.
void TimelineCanvas::dragRow(QPointF to)
{
    if (m_pressedRow < 0 || m_pressedRow >= m_scene.rows.count())
        return;
    const int y = m_scene.rowsYAt(to.y());
    if (m_drag == Drag::RowSize) {
        const TrackRow& row = m_scene.rows.at(m_pressedRow);
        m_scene.rows.resize(m_pressedRow, y - row.top);
        moved();
        return;
    }
    const auto drop = m_scene.rows.dropAt(m_pressedRow, y);
    m_scene.draggedRow = m_pressedRow;
    m_scene.dropLine = drop ? std::optional(drop->y) : std::nullopt;
    viewport()->update();
}

void TimelineCanvas::dropRow(QPointF at, bool sized)
{
    editRows([&] {
        if (sized || m_pressedRow < 0 || m_pressedRow >= m_scene.rows.count())
            return;
        if (const auto drop = m_scene.rows.dropAt(m_pressedRow, m_scene.rowsYAt(at.y())))
            m_scene.rows.drop(m_pressedRow, *drop);
    });
}

void TimelineCanvas::scrollToRow(int index, int depth)
{
    if (index < 0 || index >= m_scene.rows.count())
        return;
    const TrackRow& row = m_scene.rows.at(index);
    if (row.pinned && m_scene.pinnedHeight() > 0)
        return;
    const bool lane = row.kind == TrackRow::Kind::Track && row.showsDepth(depth);
    const int top = lane ? row.laneTop(depth) : row.top;
    const int bottom = lane ? top + row.laneHeight : row.bottom();
    QScrollBar* bar = verticalScrollBar();
    if (top < bar->value() + m_scene.pinnedHeight())
        bar->setValue(top - m_scene.pinnedHeight());
    else if (bottom > bar->value() + m_scene.lanesRect().height())
        bar->setValue(bottom - m_scene.lanesRect().height());
}

} // namespace app
