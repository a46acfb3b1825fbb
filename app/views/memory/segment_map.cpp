#include "app/views/memory/segment_map.h"

#include "app/look/number_format.h"
#include "app/look/qstring.h"
#include "app/look/timeline_theme.h"

#include <QEvent>
#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace app {

using profiler::analysis::AllocatorSegment;
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
