#include "app/views/memory/memory_treemap.h"

#include "app/look/number_format.h"
#include "app/look/timeline_theme.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace app {

using profiler::analysis::LiveBlocks;

std::vector<QRectF> squarified(const std::vector<double>& weights, const QRectF& all)
{
    std::vector<QRectF> rects(weights.size());
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (!(sum > 0) || all.isEmpty())
        return rects;
    const double scale = all.width() * all.height() / sum;
    QRectF left = all; // what is not divided yet
    for (std::size_t first = 0; first < weights.size();) {
        const double side = std::min(left.width(), left.height());
        if (weights[first] <= 0 || side <= 0)
            break;
        // The worst aspect ratio of a row with the weights [first, end) along the shorter side.
        const auto worst = [&](double area, double largest, double smallest) {
            return std::max(side * side * largest / (area * area), area * area / (side * side * smallest));
        };
        const double largest = weights[first] * scale;
        double area = largest;
        std::size_t end = first + 1;
        for (; end < weights.size() && weights[end] > 0; ++end) {
            const double next = weights[end] * scale;
            if (worst(area + next, largest, next) > worst(area, largest, weights[end - 1] * scale))
                break;
            area += next;
        }
        const bool isColumn = left.width() >= left.height();
        const double thickness = area / side;
        double at = isColumn ? left.top() : left.left();
        for (std::size_t i = first; i < end; ++i) {
            const double length = weights[i] * scale / thickness;
            rects[i] =
                isColumn ? QRectF(left.left(), at, thickness, length) : QRectF(at, left.top(), length, thickness);
            at += length;
        }
        if (isColumn)
            left.setLeft(left.left() + thickness);
        else
            left.setTop(left.top() + thickness);
        first = end;
    }
    return rects;
}

MemoryTreemap::MemoryTreemap(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Holders of memory"));
}

void MemoryTreemap::setHolders(std::vector<LiveBlocks> holders)
{
    m_holders = std::move(holders);
    m_bytes = 0;
    for (const LiveBlocks& holder : m_holders)
        m_bytes += holder.bytes;
    m_rects = layOut(size());
    m_current.reset();
    m_hovered.reset();
    update();
}

std::vector<QRectF> MemoryTreemap::layOut(QSize size) const
{
    std::vector<double> weights;
    for (const LiveBlocks& holder : m_holders)
        weights.push_back(static_cast<double>(holder.bytes));
    std::vector<QRectF> rects = squarified(weights, QRectF(QPointF(0, 0), size));
    for (QRectF& rect : rects)
        if (rect.width() < 1 || rect.height() < 1)
            rect = {};
    return rects;
}

void MemoryTreemap::setCurrent(std::optional<std::size_t> holder)
{
    m_current = holder && *holder < m_holders.size() ? holder : std::nullopt;
    setAccessibleDescription(m_current ? holderDescription(m_holders[*m_current], m_bytes) : QString());
    update();
}

std::optional<std::size_t> MemoryTreemap::holderAt(QPointF point) const
{
    const auto found =
        std::find_if(m_rects.begin(), m_rects.end(), [&](const QRectF& rect) { return rect.contains(point); });
    return found == m_rects.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - m_rects.begin()));
}

void MemoryTreemap::paint(QPainter& painter, QSize size, const std::vector<QRectF>& rects, bool interactive)
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
    m_labels.setFont(font(), devicePixelRatioF());
    m_labels.setVector(!interactive);
    for (std::size_t i = 0; i < rects.size(); ++i) {
        if (rects[i].isEmpty())
            continue;
        const LiveBlocks& holder = m_holders[i];
        const QRectF rect = rects[i].adjusted(0, 0, rects[i].width() > 3 ? -1 : 0, rects[i].height() > 3 ? -1 : 0);
        fillMemory(painter, rect, holder.category, theme.dark);
        const QColor text = memoryTextColor(holder.category, theme.dark);
        const double line = m_labels.height();
        if (rect.width() >= 30 && rect.height() >= line + 3) {
            painter.save();
            painter.setClipRect(rect, Qt::IntersectClip);
            m_labels.draw(painter, rect.left() + 4, rect.top() + 2, rect.width() - 7, holderTitle(holder), text);
            if (rect.height() >= 2 * line + 4)
                m_labels.draw(painter, rect.left() + 4, rect.top() + 2 + line, rect.width() - 7,
                              formatBytes(static_cast<double>(holder.bytes)), text);
            if (rect.height() >= 3 * line + 5 && !holder.rest)
                m_labels.draw(painter, rect.left() + 4, rect.top() + 2 + 2 * line, rect.width() - 7,
                              memoryCategoryTitle(holder.category), text);
            painter.restore();
        }
        if (interactive && (m_current == i || m_hovered == i)) {
            const bool isCurrent = m_current == i;
            painter.setPen(QPen(isCurrent ? theme.accent : theme.text, isCurrent ? 3 : 1));
            painter.setBrush(Qt::NoBrush);
            const double inset = isCurrent ? 1.5 : 0.5;
            painter.drawRect(rect.adjusted(inset, inset, -inset, -inset));
        }
    }
}

void MemoryTreemap::render(QPainter& painter, QSize size)
{
    paint(painter, size, layOut(size), false);
}

void MemoryTreemap::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paint(painter, size(), m_rects, true);
}

void MemoryTreemap::resizeEvent(QResizeEvent*)
{
    m_rects = layOut(size());
}

void MemoryTreemap::mouseMoveEvent(QMouseEvent* event)
{
    const auto at = holderAt(event->position());
    if (at != m_hovered) {
        m_hovered = at;
        update();
    }
    if (at)
        QToolTip::showText(event->globalPosition().toPoint() + QPoint(12, 12),
                           holderDescription(m_holders[*at], m_bytes), this);
    else
        QToolTip::hideText();
}

void MemoryTreemap::mouseReleaseEvent(QMouseEvent* event)
{
    const auto at = holderAt(event->position());
    if (event->button() != Qt::LeftButton || !at)
        return;
    setCurrent(at);
    emit chosen(*at);
}

void MemoryTreemap::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const auto at = holderAt(event->position()); at && event->button() == Qt::LeftButton)
        emit opened(*at);
}

/// The nearest rectangle in the direction of an arrow key.
std::optional<std::size_t> MemoryTreemap::neighbour(int key) const
{
    if (!m_current || m_rects[*m_current].isEmpty())
        return m_holders.empty() ? std::nullopt : std::optional<std::size_t>(0);
    const QPointF from = m_rects[*m_current].center();
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t i = 0; i < m_rects.size(); ++i) {
        const QPointF by = m_rects[i].center() - from;
        const double along = key == Qt::Key_Left    ? -by.x()
                             : key == Qt::Key_Right ? by.x()
                             : key == Qt::Key_Up    ? -by.y()
                                                    : by.y();
        const double across = key == Qt::Key_Left || key == Qt::Key_Right ? by.y() : by.x();
        const double distance = along + 2 * std::abs(across);
        if (i != *m_current && !m_rects[i].isEmpty() && along > 0.5 && (!best || distance < least)) {
            best = i;
            least = distance;
        }
    }
    return best;
}

void MemoryTreemap::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
        if (const auto next = neighbour(event->key()))
            setCurrent(next);
        break;
    case Qt::Key_Space:
        if (m_current)
            emit chosen(*m_current);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current)
            emit opened(*m_current);
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

void MemoryTreemap::contextMenuEvent(QContextMenuEvent* event)
{
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    const auto at = byKey ? m_current : holderAt(event->pos());
    if (!at)
        return;
    setCurrent(at);
    emit menuWanted(*at, byKey ? mapToGlobal(m_rects[*at].center().toPoint()) : event->globalPos());
}

void MemoryTreemap::leaveEvent(QEvent*)
{
    m_hovered.reset();
    update();
}

} // namespace app
