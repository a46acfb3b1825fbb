#include "app/views/memory/memory_maps.h"

#include "app/look/display_text.h"
#include "app/look/theme.h"

#include <QContextMenuEvent>
#include <QEvent>
#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace app {

using profiler::analysis::AllocatorSegment;
using profiler::analysis::LiveBlocks;
using profiler::analysis::SegmentBlock;

namespace {

constexpr int kBar = 18, kGap = 6, kMargin = 8;

/// The category in whose colour a block is drawn.
MemoryCategory shownAs(const AllocatorSegment& segment, const SegmentBlock& block)
{
    if (block.state == SegmentBlock::State::Allocated)
        return block.category;
    return segment.allocated > 0 ? MemoryCategory::Fragmented : MemoryCategory::Cached;
}

QString segmentText(const AllocatorSegment& segment)
{
    QString text = SegmentMap::tr("%1, %2 allocated")
                       .arg(formatBytes(static_cast<double>(segment.bytes)),
                            formatShare(segment.bytes > 0 ? static_cast<double>(segment.allocated) /
                                                                static_cast<double>(segment.bytes)
                                                          : 0));
    if (segment.expandable)
        text += SegmentMap::tr(" · expandable");
    else if (!segment.type.empty())
        text += QStringLiteral(" · ") + asQString(segment.type);
    text += SegmentMap::tr(" · stream %1").arg(segment.stream);
    return text;
}

} // namespace

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
            m_labels.draw(painter, rect.left() + 4, rect.top() + 2, rect.width() - 7, holderLabel(holder), text);
            if (rect.height() >= 2 * line + 4)
                m_labels.draw(painter, rect.left() + 4, rect.top() + 2 + line, rect.width() - 7,
                              formatBytes(static_cast<double>(holder.bytes)), text);
            if (rect.height() >= 3 * line + 5 && !holder.rest && !holder.unrecorded)
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

SegmentMap::SegmentMap(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Segments of the allocator"));
}

void SegmentMap::setMemory(std::shared_ptr<const profiler::analysis::DeviceMemory> memory)
{
    m_memory = std::move(memory);
    m_current.reset();
    setAccessibleDescription(summary());
    relayout();
}

QString SegmentMap::summary() const
{
    if (!m_memory || m_memory->segments.empty())
        return {};
    std::int64_t bytes = 0, fragmented = 0, cached = 0;
    for (const AllocatorSegment& segment : m_memory->segments) {
        bytes += segment.bytes;
        (segment.allocated > 0 ? fragmented : cached) += segment.free();
    }
    return tr("%1 with %2 at the end of the snapshot. Free: %3 in segments that hold blocks (fragmented), %4 in others "
              "(cached).")
        .arg(formatCounted(static_cast<std::int64_t>(m_memory->segments.size()), tr("segment"), tr("segments")),
             formatBytes(static_cast<double>(bytes)), formatBytes(static_cast<double>(fragmented)),
             formatBytes(static_cast<double>(cached)));
}

int SegmentMap::rowHeight() const
{
    return fontMetrics().height() + kBar + kGap;
}

void SegmentMap::relayout()
{
    const auto rows = m_memory ? static_cast<int>(std::min<std::size_t>(m_memory->segments.size(), 1'000'000)) : 0;
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(rowHeight());
    verticalScrollBar()->setRange(0, std::max(0, rows * rowHeight() + kGap - viewport()->height()));
    viewport()->update();
}

QRectF SegmentMap::barOf(std::size_t segment) const
{
    const double top = static_cast<double>(segment) * rowHeight() + kGap / 2.0 - verticalScrollBar()->value();
    return {kMargin, top + fontMetrics().height(), std::max(10.0, viewport()->width() - 2.0 * kMargin), kBar};
}

const SegmentBlock& SegmentMap::block(Position position) const
{
    return m_memory->segments[position.first].blocks[position.second];
}

QRectF SegmentMap::rectOf(Position position) const
{
    const AllocatorSegment& segment = m_memory->segments[position.first];
    const QRectF bar = barOf(position.first);
    const double scale = segment.bytes > 0 ? bar.width() / static_cast<double>(segment.bytes) : 0;
    const SegmentBlock& one = block(position);
    const double left = std::min(static_cast<double>(one.offset) * scale, bar.width());
    const double right = std::min(static_cast<double>(one.offset + one.bytes) * scale, bar.width());
    return {bar.left() + left, bar.top(), right - left, bar.height()};
}

std::optional<SegmentMap::Position> SegmentMap::blockAt(QPointF point) const
{
    const double y = point.y() + verticalScrollBar()->value() - kGap / 2.0;
    if (!m_memory || y < 0)
        return std::nullopt;
    const auto row = static_cast<std::size_t>(y / rowHeight());
    if (row >= m_memory->segments.size() || !barOf(row).contains(point))
        return std::nullopt;
    const AllocatorSegment& segment = m_memory->segments[row];
    const QRectF bar = barOf(row);
    const auto offset =
        static_cast<std::int64_t>((point.x() - bar.left()) / bar.width() * static_cast<double>(segment.bytes));
    const auto after = std::upper_bound(segment.blocks.begin(), segment.blocks.end(), offset,
                                        [](std::int64_t at, const SegmentBlock& one) { return at < one.offset; });
    if (after == segment.blocks.begin())
        return std::nullopt;
    return Position{row, static_cast<std::size_t>(std::prev(after) - segment.blocks.begin())};
}

QString SegmentMap::describe(Position position) const
{
    const AllocatorSegment& segment = m_memory->segments[position.first];
    const SegmentBlock& one = block(position);
    QStringList lines;
    switch (one.state) {
    case SegmentBlock::State::Allocated:
        lines << tr("Allocated: %1").arg(formatBytes(static_cast<double>(one.bytes)));
        lines << memoryCategoryTitle(one.category);
        if (!one.place.empty())
            lines << asQString(one.place.file) + u':' + QString::number(one.place.line);
        break;
    case SegmentBlock::State::PendingFree:
        lines << tr("Freed, but still used by a stream: %1").arg(formatBytes(static_cast<double>(one.bytes)));
        break;
    case SegmentBlock::State::Free:
        lines << tr("Free: %1").arg(formatBytes(static_cast<double>(one.bytes)));
        break;
    }
    lines << tr("Segment: %1").arg(segmentText(segment));
    return lines.join('\n');
}

void SegmentMap::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    const TimelineTheme theme = TimelineTheme::from(palette());
    painter.fillRect(viewport()->rect(), theme.background);
    if (!m_memory)
        return;
    const QFontMetricsF metrics(font());
    const auto first = static_cast<std::size_t>(verticalScrollBar()->value() / rowHeight());
    for (std::size_t row = first; row < m_memory->segments.size(); ++row) {
        const QRectF bar = barOf(row);
        if (bar.top() - metrics.height() > viewport()->height())
            break;
        const AllocatorSegment& segment = m_memory->segments[row];
        painter.setPen(theme.text);
        painter.drawText(QPointF(bar.left(), bar.top() - metrics.height() + metrics.ascent()),
                         metrics.elidedText(segmentText(segment), Qt::ElideRight, bar.width()));
        fillMemory(painter, bar, segment.allocated > 0 ? MemoryCategory::Fragmented : MemoryCategory::Cached,
                   theme.dark);
        double painted = bar.left() - 1; // thousands of blocks may share a pixel
        for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
            const SegmentBlock& one = segment.blocks[i];
            QRectF rect = rectOf({row, i});
            if (one.state == SegmentBlock::State::Free || rect.right() < painted + 0.5)
                continue;
            painted = rect.right();
            rect.setWidth(std::max(rect.width(), 0.7));
            fillMemory(painter, rect, shownAs(segment, one), theme.dark);
            if (rect.width() > 3)
                painter.fillRect(QRectF(rect.right() - 1, rect.top(), 1, rect.height()),
                                 classStyle(memoryClass(shownAs(segment, one)), theme.dark).edge);
        }
        painter.setPen(theme.border);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(bar.adjusted(0, 0, -1, -1));
        if (m_current && m_current->first == row) {
            const QRectF rect = rectOf(*m_current);
            painter.setPen(QPen(theme.accent, 2));
            painter.drawRect(QRectF(rect.left(), rect.top() - 1, std::max(rect.width(), 3.0), rect.height() + 2));
        }
    }
}

void SegmentMap::setCurrent(std::optional<Position> position)
{
    m_current = position;
    setAccessibleDescription(position ? describe(*position) : summary());
    if (position) {
        const QRectF bar = barOf(position->first);
        QScrollBar* scroll = verticalScrollBar();
        if (bar.top() - fontMetrics().height() < 0)
            scroll->setValue(scroll->value() + static_cast<int>(bar.top()) - fontMetrics().height());
        else if (bar.bottom() > viewport()->height())
            scroll->setValue(scroll->value() + static_cast<int>(bar.bottom()) - viewport()->height() + kGap);
    }
    viewport()->update();
}

void SegmentMap::resizeEvent(QResizeEvent*)
{
    relayout();
}

void SegmentMap::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        relayout();
}

void SegmentMap::mouseMoveEvent(QMouseEvent* event)
{
    if (const auto at = blockAt(event->position()))
        QToolTip::showText(event->globalPosition().toPoint() + QPoint(12, 12), describe(*at), viewport());
    else
        QToolTip::hideText();
}

void SegmentMap::mouseReleaseEvent(QMouseEvent* event)
{
    const auto at = blockAt(event->position());
    if (event->button() != Qt::LeftButton || !at)
        return;
    setCurrent(at);
    emit chosen(block(*at));
}

void SegmentMap::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const auto at = blockAt(event->position()); at && event->button() == Qt::LeftButton)
        emit opened(block(*at));
}

void SegmentMap::keyPressEvent(QKeyEvent* event)
{
    const auto move = [this](int rows, int blocks) {
        if (!m_memory || m_memory->segments.empty())
            return;
        const auto within = [](std::size_t at, int by, std::size_t count) {
            const auto moved = static_cast<std::ptrdiff_t>(at) + by;
            return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(
                moved, 0, std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(count) - 1, 0)));
        };
        Position next = m_current.value_or(Position{0, 0});
        if (m_current) {
            next.first = within(next.first, rows, m_memory->segments.size());
            next.second = within(rows != 0 ? 0 : next.second, blocks, m_memory->segments[next.first].blocks.size());
        }
        if (next.second < m_memory->segments[next.first].blocks.size())
            setCurrent(next);
    };
    switch (event->key()) {
    case Qt::Key_Left:
        move(0, -1);
        break;
    case Qt::Key_Right:
        move(0, 1);
        break;
    case Qt::Key_Up:
        move(-1, 0);
        break;
    case Qt::Key_Down:
        move(1, 0);
        break;
    case Qt::Key_Space:
        if (m_current)
            emit chosen(block(*m_current));
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current)
            emit opened(block(*m_current));
        break;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

} // namespace app
