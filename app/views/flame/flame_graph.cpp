#include "app/views/flame/flame_graph.h"

#include "app/look/display_text.h"
#include "app/look/kind_palette.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLinearGradient>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace app {

namespace {

constexpr double kNarrowest = 1;       ///< pixels
constexpr double kLabelled = 24;       ///< pixels: narrower frames have no label
constexpr double kSmallestPart = 1e-6; ///< of everything: the closest zoom
constexpr double kWheelStep = 1.25;

} // namespace

FlameGraph::FlameGraph(QWidget* parent) : QAbstractScrollArea(parent), m_frames(std::make_shared<const CallFrames>())
{
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Flame graph"));
    setMinimumSize(120, 40);
}

void FlameGraph::setFrames(std::shared_ptr<const CallFrames> frames)
{
    m_frames = std::move(frames);
    m_deepest = 0;
    for (const CallFrame& frame : m_frames->frames)
        m_deepest = std::max(m_deepest, frame.depth);
    m_left = 0;
    m_right = std::max(m_frames->frames.front().weight, 1.0);
    m_before.clear();
    m_current = 0;
    m_hovered.reset();
    setSearch(m_search);
    verticalScrollBar()->setValue(0);
    relayout();
}

void FlameGraph::setUpsideDown(bool upsideDown)
{
    m_upsideDown = upsideDown;
    relayout();
}

void FlameGraph::setSearch(const QString& text)
{
    m_search = text;
    m_matches.clear();
    m_foundShare = 0;
    m_foundCount = 0;
    if (!text.isEmpty()) {
        for (const QString& name : m_frames->names)
            m_matches.push_back(name.contains(text, Qt::CaseInsensitive));
        m_matches[m_frames->frames.front().name] = false;
        double found = 0;
        std::uint32_t until = 0; // the end of the outermost match
        for (std::uint32_t i = 1; i < m_frames->frames.size(); ++i) {
            const CallFrame& frame = m_frames->frames[i];
            if (!m_matches[frame.name])
                continue;
            ++m_foundCount;
            if (i < until)
                continue;
            found += frame.weight;
            until = frame.end;
        }
        if (const double all = m_frames->frames.front().weight; all > 0)
            m_foundShare = found / all;
    }
    viewport()->update();
}

void FlameGraph::goToMatch(int direction)
{
    if (m_foundCount == 0)
        return;
    const auto count = static_cast<std::int64_t>(m_frames->frames.size());
    std::int64_t at = m_current;
    do {
        at = (at + direction + count) % count;
    } while (!m_matches[m_frames->frames[static_cast<std::size_t>(at)].name]);
    makeCurrent(static_cast<std::uint32_t>(at));
}

double FlameGraph::rowHeight() const
{
    return fontMetrics().height() + 5;
}

double FlameGraph::legendHeight() const
{
    return m_frames->isDifference ? fontMetrics().height() + 8 : 0;
}

double FlameGraph::rowTop(std::uint32_t depth, QSize size, double scrolled) const
{
    if (m_upsideDown)
        return std::max(size.height() - 1.0, (m_deepest + 1) * rowHeight() + legendHeight()) -
               (depth + 1) * rowHeight() - scrolled;
    return legendHeight() + depth * rowHeight() - scrolled;
}

QSize FlameGraph::fullSize() const
{
    return {viewport()->width(), static_cast<int>(legendHeight() + (m_deepest + 1) * rowHeight() + 1)};
}

void FlameGraph::relayout()
{
    const int full = fullSize().height(), shown = viewport()->height();
    verticalScrollBar()->setPageStep(shown);
    verticalScrollBar()->setSingleStep(static_cast<int>(rowHeight()));
    verticalScrollBar()->setRange(0, std::max(0, full - shown));
    if (m_upsideDown)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    viewport()->update();
}

std::vector<FlameGraph::Visible> FlameGraph::layOut(QSize size, double scrolled) const
{
    std::vector<Visible> visible;
    const auto& frames = m_frames->frames;
    if (frames.front().weight <= 0)
        return visible;
    const double scale = size.width() / (m_right - m_left);
    const auto rectOf = [&](double begin, double weight, std::uint32_t depth) {
        const double left = std::max((begin - m_left) * scale, -1.0);
        const double right = std::min((begin + weight - m_left) * scale, size.width() + 1.0);
        return QRectF(left, rowTop(depth, size, scrolled), right - left, rowHeight());
    };
    std::vector<std::uint32_t> open = {0};
    while (!open.empty()) {
        const std::uint32_t i = open.back();
        open.pop_back();
        const QRectF rect = rectOf(frames[i].begin, frames[i].weight, frames[i].depth);
        if (rect.bottom() > 0 && rect.top() < size.height())
            visible.push_back({rect, i});
        // Children are sorted by weight: those after the first narrow one are all narrow.
        for (std::uint32_t child = i + 1; child < frames[i].end; child = frames[child].end) {
            const CallFrame& frame = frames[child];
            if (frame.weight * scale < kNarrowest) {
                const double all = frames[i].begin + frames[i].inner - frame.begin;
                const QRectF rest = rectOf(frame.begin, all, frame.depth);
                if (rest.width() >= kNarrowest && rest.left() < size.width() && rest.right() > 0)
                    visible.push_back({rest, child, true});
                break;
            }
            if ((frame.begin + frame.weight - m_left) * scale > 0 && (frame.begin - m_left) * scale < size.width())
                open.push_back(child);
        }
    }
    return visible;
}

void FlameGraph::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    m_labels.setFont(font(), devicePixelRatioF());
    m_labels.setVector(false);
    const double scrolled = verticalScrollBar()->value();
    m_visible = layOut(viewport()->size(), scrolled);
    paint(painter, viewport()->size(), scrolled, true);
}

void FlameGraph::render(QPainter& painter, QSize size, bool vector)
{
    m_labels.setFont(font(), devicePixelRatioF());
    m_labels.setVector(vector);
    m_visible = layOut(size, 0);
    paint(painter, size, 0, false);
    viewport()->update(); // m_visible is that of the viewport again
}

void FlameGraph::paint(QPainter& painter, QSize size, double, bool interactive)
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
    const CallFrames& calls = *m_frames;
    for (const Visible& visible : m_visible) {
        const CallFrame& frame = calls.frames[visible.frame];
        const QRectF rect = visible.rect.adjusted(0, 0, visible.rect.width() > 3 ? -1 : 0, -1);
        const bool dimmed = !m_matches.empty() && !m_matches[frame.name];
        QColor text = theme.text;
        if (visible.rest) {
            painter.fillRect(rect, theme.grid);
            continue;
        }
        if (visible.frame == 0) {
            painter.fillRect(rect, theme.header);
        } else if (calls.isDifference) {
            const QColor fill = changeColor(changeOf(frame), theme.dark);
            painter.fillRect(rect, fill);
            text = contrastRatio(fill, Qt::black) > contrastRatio(fill, Qt::white) ? Qt::black : Qt::white;
        } else {
            fillAs(painter, rect, frame.color, theme.dark);
            text = classStyle(frame.color, theme.dark).text;
        }
        if (dimmed) {
            QColor veil = theme.background;
            veil.setAlphaF(0.7F);
            painter.fillRect(rect, veil);
            text = theme.dimText;
        }
        if (rect.width() >= kLabelled) {
            const double left = std::max(rect.left(), 0.0) + 4;
            const double room = std::min(rect.right(), double(size.width())) - left - 3;
            const QString label = visible.frame == 0
                                      ? QStringLiteral("%1 · %2").arg(calls.label(frame), formatUs(frame.total / 1000))
                                      : calls.label(frame);
            m_labels.draw(painter, left, rect.top() + (rect.height() - m_labels.height()) / 2, room, label, text);
        }
        const bool isMatch = !m_matches.empty() && m_matches[frame.name];
        if (isMatch && rect.width() > 2) {
            painter.setPen(QPen(theme.found, 1));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
        }
        if (interactive && (visible.frame == m_current || visible.frame == m_hovered) && visible.frame != 0) {
            painter.setPen(QPen(visible.frame == m_current ? theme.accent : theme.text,
                                visible.frame == m_current && hasFocus() ? 2 : 1));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
        }
    }
    if (calls.isDifference)
        paintLegend(painter, size);
}

void FlameGraph::paintLegend(QPainter& painter, QSize size)
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    const double height = legendHeight();
    painter.fillRect(QRectF(0, 0, size.width(), height), theme.background);
    const QString less = tr("less time"), more = tr("more time than the other");
    const QFontMetricsF metrics(font());
    const double top = (height - metrics.height()) / 2;
    painter.setPen(theme.dimText);
    double x = 6;
    painter.drawText(QPointF(x, top + metrics.ascent()), less);
    x += metrics.horizontalAdvance(less) + 6;
    constexpr double kScale = 120;
    QLinearGradient scale(x, 0, x + kScale, 0);
    for (int i = 0; i <= 10; ++i)
        scale.setColorAt(i / 10.0, changeColor(i / 5.0 - 1, theme.dark));
    painter.fillRect(QRectF(x, top + 1, kScale, metrics.height() - 2), scale);
    x += kScale + 6;
    painter.setPen(theme.dimText);
    painter.drawText(QPointF(x, top + metrics.ascent()), more);
    x += metrics.horizontalAdvance(more) + 24;
    painter.drawText(QPointF(x, top + metrics.ascent()), tr("Width: mean of both"));
}

QString FlameGraph::describe(std::uint32_t index) const
{
    const CallFrames& calls = *m_frames;
    const CallFrame& frame = calls.frames[index];
    QStringList lines{calls.name(frame)};
    if (calls.isDifference) {
        const QString unit = calls.perStep ? tr(" per step") : QString();
        const double change = frame.total - frame.totalOther;
        lines << tr("%1%2 here, %3%2 in the other")
                     .arg(formatUs(frame.total / 1000), unit, formatUs(frame.totalOther / 1000));
        lines << (change < 0 ? QString(QChar(0x2212)) : QStringLiteral("+")) + formatUs(std::abs(change) / 1000) + unit;
        if (index != 0 && (frame.calls > 0 || frame.callsOther > 0))
            lines << tr("Calls: %1 → %2").arg(callCountText(frame.callsOther), callCountText(frame.calls));
    } else {
        lines << tr("%1 in total (%2), %3 itself")
                     .arg(formatUs(frame.total / 1000), formatShare(calls.share(frame)), formatUs(frame.self / 1000));
        if (index != 0 && frame.calls > 0)
            lines << (calls.steps > 1
                          ? tr("%1, %2 per step")
                                .arg(formatCounted(static_cast<std::int64_t>(frame.calls), tr("call"), tr("calls")),
                                     callCountText(frame.calls / static_cast<double>(calls.steps)))
                          : formatCounted(static_cast<std::int64_t>(frame.calls), tr("call"), tr("calls")));
    }
    return lines.join('\n');
}

std::optional<std::uint32_t> FlameGraph::frameAt(QPointF point) const
{
    for (const Visible& visible : m_visible)
        if (!visible.rest && visible.rect.contains(point))
            return visible.frame;
    return std::nullopt;
}

void FlameGraph::setPart(double left, double right)
{
    const double all = std::max(m_frames->frames.front().weight, 1.0);
    const double width = std::clamp(right - left, all * kSmallestPart, all);
    m_left = std::clamp(left, 0.0, all - width);
    m_right = m_left + width;
    viewport()->update();
}

void FlameGraph::zoomTo(std::uint32_t index)
{
    const CallFrame& frame = m_frames->frames[index];
    if (frame.weight <= 0 || (m_left == frame.begin && m_right == frame.begin + frame.weight))
        return;
    if (index != 0)
        m_before.emplace_back(m_left, m_right);
    else
        m_before.clear();
    setPart(frame.begin, frame.begin + frame.weight);
}

void FlameGraph::zoomOut()
{
    if (m_before.empty()) {
        setPart(0, m_frames->frames.front().weight);
        return;
    }
    const auto [left, right] = m_before.back();
    m_before.pop_back();
    setPart(left, right);
}

void FlameGraph::setCurrent(std::uint32_t index)
{
    m_current = index < m_frames->frames.size() ? index : 0;
    const CallFrame& frame = m_frames->frames[m_current];
    setAccessibleDescription(m_current == 0 ? QString() : describe(m_current));
    const double width = (m_right - m_left) * kNarrowest / std::max(1, viewport()->width());
    if (frame.begin >= m_right || frame.begin + frame.weight <= m_left || frame.weight < width)
        zoomTo(m_current);
    const double top = rowTop(frame.depth, viewport()->size(), 0);
    QScrollBar* bar = verticalScrollBar();
    if (top - bar->value() < legendHeight())
        bar->setValue(static_cast<int>(top - legendHeight()));
    else if (top + rowHeight() - bar->value() > viewport()->height())
        bar->setValue(static_cast<int>(top + rowHeight() - viewport()->height()));
    viewport()->update();
}

void FlameGraph::makeCurrent(std::uint32_t frame)
{
    setCurrent(frame);
    emit chosen(m_current);
}

void FlameGraph::move(int key)
{
    const auto& frames = m_frames->frames;
    const CallFrame& frame = frames[m_current];
    const bool inwards = key == (m_upsideDown ? Qt::Key_Up : Qt::Key_Down);
    if (key == Qt::Key_Up || key == Qt::Key_Down) {
        if (inwards && m_current + 1 < frame.end)
            makeCurrent(m_current + 1); // the child with the most time
        else if (!inwards && m_current != 0)
            makeCurrent(frame.parent);
        return;
    }
    if (key == Qt::Key_Right) {
        if (m_current != 0 && frame.end < frames[frame.parent].end)
            makeCurrent(frame.end);
        return;
    }
    for (std::uint32_t child = frame.parent + 1; child < m_current; child = frames[child].end)
        if (frames[child].end == m_current) {
            makeCurrent(child);
            return;
        }
}

void FlameGraph::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
        move(event->key());
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        zoomTo(m_current);
        emit chosen(m_current);
        break;
    case Qt::Key_Escape:
    case Qt::Key_Backspace:
    case Qt::Key_Back:
        zoomOut();
        break;
    case Qt::Key_Home:
        zoomTo(0);
        break;
    case Qt::Key_Slash:
        emit searchWanted();
        break;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void FlameGraph::wheelEvent(QWheelEvent* event)
{
    if (event->modifiers() & Qt::ShiftModifier) {
        const int delta = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
        verticalScrollBar()->setValue(verticalScrollBar()->value() - delta / 2);
    } else if (event->angleDelta().y() != 0) {
        const double factor = std::pow(kWheelStep, -event->angleDelta().y() / 120.0);
        const double at = m_left + (m_right - m_left) * event->position().x() / std::max(1, viewport()->width());
        const double all = m_frames->frames.front().weight;
        const double width = std::min((m_right - m_left) * factor, all);
        setPart(at - (at - m_left) * width / (m_right - m_left), at + (m_right - at) * width / (m_right - m_left));
    } else {
        const double moved = -event->angleDelta().x() / 120.0 * (m_right - m_left) / 10;
        setPart(m_left + moved, m_right + moved);
    }
    event->accept();
}

void FlameGraph::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::BackButton) {
        zoomOut();
        return;
    }
    m_pressed = m_dragged = event->position();
    m_dragging = false;
}

void FlameGraph::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() & Qt::LeftButton) {
        m_dragging =
            m_dragging || (event->position() - m_pressed).manhattanLength() > QApplication::startDragDistance();
        if (m_dragging) {
            const QPointF by = m_dragged - event->position();
            m_dragged = event->position();
            const double moved = by.x() * (m_right - m_left) / std::max(1, viewport()->width());
            setPart(m_left + moved, m_right + moved);
            verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(by.y()));
        }
        return;
    }
    const auto at = frameAt(event->position());
    if (at != m_hovered) {
        m_hovered = at;
        viewport()->update();
    }
    if (at)
        QToolTip::showText(event->globalPosition().toPoint() + QPoint(12, 12), describe(*at), viewport());
    else
        QToolTip::hideText();
}

void FlameGraph::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || m_dragging)
        return;
    if (const auto at = frameAt(event->position())) {
        zoomTo(*at);
        makeCurrent(*at);
    }
}

void FlameGraph::contextMenuEvent(QContextMenuEvent* event)
{
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    const auto at = byKey ? std::optional(m_current) : frameAt(event->pos());
    if (!at)
        return;
    setCurrent(*at);
    emit menuWanted(*at, byKey ? mapToGlobal(rect().center()) : event->globalPos());
}

bool FlameGraph::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave) {
        m_hovered.reset();
        viewport()->update();
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void FlameGraph::resizeEvent(QResizeEvent*)
{
    relayout();
}

void FlameGraph::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange)
        relayout();
}

} // namespace app
