#include "app/timeline/timeline_overlay.h"

#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_scene.h"

#include <QAbstractScrollArea>
#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainterPath>
#include <QToolButton>
#include <algorithm>
#include <cmath>

namespace app {

namespace {

QColor withAlpha(QColor color, int alpha)
{
    color.setAlpha(alpha);
    return color;
}

/// Clamps a rectangle to the range that the raster engine handles well.
QRectF clipped(const TimelineScene& scene, const QRectF& rect)
{
    return rect.intersected(QRectF(scene.lanesRect()).adjusted(-8, -8, 8, 8));
}

void paintOutline(QPainter& painter, const TimelineScene& scene, const profiler::Slice& slice, bool selected)
{
    const QRectF rect = clipped(scene, scene.rectOf(slice));
    if (rect.isEmpty())
        return;
    painter.setBrush(Qt::NoBrush);
    if (!selected) {
        painter.setPen(QPen(scene.theme.text, 1));
        painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
        return;
    }
    // Two colours, so that it is visible on every fill.
    painter.setPen(QPen(scene.theme.background, 4));
    painter.drawRect(rect);
    painter.setPen(QPen(scene.theme.text, 2));
    painter.drawRect(rect);
}

/// Outlines the marked slices, and tints the marked times. Of those that begin on one pixel, one is drawn.
void paintMarked(QPainter& painter, const TimelineScene& scene, const MarkedItems& marked)
{
    const profiler::TimeRange visible = scene.axis.visible();
    const QRectF lanes = scene.lanesRect();
    painter.setBrush(Qt::NoBrush); // the fill shows the kind of the slice
    painter.setPen(QPen(scene.theme.found, 2));
    QPointF last;
    for (const profiler::Slice& slice : marked.slices) {
        if (slice.begin >= visible.end || slice.end() < visible.begin)
            continue;
        QRectF rect = scene.rectOf(slice);
        if (rect.isEmpty() && rect.height() <= 0)
            continue;
        rect.setWidth(std::max(rect.width(), 2.0));
        rect = clipped(scene, rect);
        if (rect.isEmpty() || rect.topLeft().toPoint() == last.toPoint())
            continue;
        last = rect.topLeft();
        painter.drawRect(rect);
    }
    double lastLeft = -1;
    for (const profiler::TimeRange& range : marked.ranges) {
        const double left = std::floor(scene.xOf(range.begin)), right = scene.xOf(range.end);
        const QRectF area(left, lanes.top(), std::max(right - left, 1.0), lanes.height());
        if (left == lastLeft || !area.intersects(lanes))
            continue;
        lastLeft = left;
        fillInStrips(painter, clipped(scene, area), withAlpha(scene.theme.found, 60));
    }
}

// Arrows from cause to effect.

constexpr double kFar = 16000; ///< pixels beyond which the raster engine loses precision

struct Ends {
    QPointF from, to;
    bool upright = false; ///< from a lane to one below it at the same x
};

std::optional<Ends> endsOf(const TimelineScene& scene, const FlowArrow& arrow)
{
    const QRectF from = scene.rectOf(arrow.from), to = scene.rectOf(arrow.to);
    if (from.isEmpty() || to.isEmpty())
        return std::nullopt;
    const auto bounded = [](QPointF p) { return QPointF(std::clamp(p.x(), -kFar, kFar), p.y()); };
    if (arrow.kind == FlowArrow::Kind::Call) {
        const double x = to.left() + std::min(2.0, to.width() / 2);
        return Ends{bounded({x, from.bottom()}), bounded({x, to.top()}), true};
    }
    const bool launch = arrow.kind == FlowArrow::Kind::Launch;
    return Ends{bounded({launch ? from.left() : from.right(), from.center().y()}),
                bounded({to.left(), to.center().y()}), false};
}

QPainterPath pathOf(const Ends& ends)
{
    QPainterPath path(ends.from);
    if (ends.upright) {
        path.lineTo(ends.to);
    } else {
        const double bend = std::clamp(std::abs(ends.to.x() - ends.from.x()) / 2, 24.0, 160.0);
        path.cubicTo(ends.from + QPointF(bend, 0), ends.to - QPointF(bend, 0), ends.to);
    }
    return path;
}

void paintHead(QPainter& painter, const Ends& ends, const QColor& color)
{
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    if (ends.upright)
        painter.drawPolygon(QPolygonF{ends.to, ends.to + QPointF(-3, -5), ends.to + QPointF(3, -5)});
    else
        painter.drawPolygon(QPolygonF{ends.to, ends.to + QPointF(-7, -4), ends.to + QPointF(-7, 4)});
}

/// An arrow of the selected slice, visible on every fill. Its colours are opaque, because Qt would pass a translucent
/// shape of this height to a thread pool, see drawInStrips().
void paintArrow(QPainter& painter, const TimelineScene& scene, const Ends& ends)
{
    constexpr double kWidth = 1.75, kHalo = 4;
    const QPainterPath path = pathOf(ends);
    painter.setBrush(Qt::NoBrush);
    for (const QPen& pen : {QPen(scene.theme.background, kHalo), QPen(scene.theme.accent, kWidth)}) {
        painter.setPen(pen);
        painter.drawPath(path);
    }
    paintHead(painter, ends, scene.theme.accent);
}

/// One of hundreds of arrows: a line one device pixel wide, which costs a tenth of a wider one.
void paintFaintArrow(QPainter& painter, const Ends& ends, const QColor& color)
{
    QPen pen(color, 1);
    pen.setCosmetic(true);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(pen);
    painter.drawPath(pathOf(ends));
    paintHead(painter, ends, color);
}

/// Shows why there are no arrows.
void paintTooMany(QPainter& painter, TimelineScene& scene)
{
    const QString text = QCoreApplication::translate("Timeline", "Too many flows: zoom in to see them");
    const double width = scene.labels.width(text, scene.theme.text);
    const QRectF box(scene.size.width() - width - 24, TimelineScene::kRulerHeight + 8, width + 16,
                     scene.labels.height() + 6);
    painter.setPen(QPen(scene.theme.border, 1));
    painter.setBrush(scene.theme.header);
    painter.drawRoundedRect(box, 3, 3);
    scene.labels.draw(painter, box.left() + 8, box.top() + 3, width + 1, text, scene.theme.text);
}

void paintFlows(QPainter& painter, TimelineScene& scene, const FlowsInView& inView)
{
    painter.setRenderHint(QPainter::Antialiasing, true);
    const QColor faint = blend(scene.theme.background, scene.theme.accent, 0.7);
    for (const FlowArrow& arrow : inView.arrows)
        if (const auto ends = endsOf(scene, arrow))
            paintFaintArrow(painter, *ends, faint);
    for (const FlowArrow& arrow : scene.flows)
        if (const auto ends = endsOf(scene, arrow))
            paintArrow(painter, scene, *ends);
    if (inView.tooMany)
        paintTooMany(painter, scene);
}

// Marks, bookmarks, and distances from them to the pointer.

constexpr double kLongestNote = 180;

QColor markColor(const TimelineScene& scene)
{
    return classStyle(SliceClass::Communication, scene.theme.dark).fill;
}

/// A label on its own background, centred on x and kept on screen.
void paintPlate(QPainter& painter, TimelineScene& scene, double x, double y, const QString& text)
{
    const double width = scene.labels.width(text, scene.theme.text) + 8;
    const double left = std::clamp(x - width / 2, double(scene.headerWidth),
                                   std::max<double>(scene.headerWidth, scene.size.width() - width));
    painter.fillRect(QRectF(left, y, width, scene.labels.height() + 2), scene.theme.header);
    scene.labels.draw(painter, left + 4, y + 1, width, text, scene.theme.text);
}

void paintMarks(QPainter& painter, TimelineScene& scene)
{
    const QColor color = markColor(scene);
    const double top = TimelineScene::kRulerHeight, height = scene.size.height() - top;
    const TimelineMark* before = nullptr;
    for (const TimelineMark& mark : scene.marks.all()) {
        const double x = scene.xOf(mark.time);
        painter.fillRect(QRectF(x, top, mark.bookmark ? 1 : 1.5, height), color);
        // The distance is shown between two marks.
        if (before && !mark.bookmark && !before->bookmark) {
            const double y = scene.size.height() - 34.0, from = scene.xOf(before->time);
            painter.fillRect(QRectF(from, y + 8, x - from, 1), color);
            paintPlate(painter, scene,
                       (std::max<double>(from, scene.headerWidth) + std::min<double>(x, scene.size.width())) / 2, y,
                       formatDuration(mark.time - before->time));
        }
        before = &mark;
    }
    const auto origin = scene.marks.origin();
    if (!origin || !scene.pointerInside)
        return;
    const double y = scene.size.height() - 14.0, x = scene.xOf(*origin);
    painter.setPen(QPen(color, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, y), QPointF(scene.pointer.x(), y));
    const auto at = scene.timeAt(scene.pointer.x());
    const profiler::TimeRange between{std::min(at, *origin), std::max(at, *origin)};
    QString text = formatDuration(between.duration());
    if (scene.hasSteps())
        if (const QString span = stepSpan(*scene.steps, between); !span.isEmpty())
            text += QStringLiteral(" · ") + span;
    paintPlate(painter, scene, (x + scene.pointer.x()) / 2, y - scene.labels.height() / 2.0 - 1, text);
}

// Tooltips.

constexpr int kHoverWidth = 330; ///< maximum, of the text
constexpr int kHoverOffset = 16;
constexpr int kHoverInset = 8;
constexpr int kWidestPinned = 420;
constexpr QPoint kPinnedOffset{16, 16}; ///< from the pointer

QLabel* makeTooltipLabel(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText); // names come from the trace
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setWordWrap(true);
    return label;
}

/// The content of the tooltip of a slice: its facts and the step in which it starts.
std::vector<SliceDetail> tooltipFacts(const TimelineScene& scene, const profiler::Slice& slice)
{
    std::vector<SliceDetail> facts = sliceFacts(*scene.trace, slice);
    if (scene.hasSteps() && stepAt(*scene.steps, slice.begin))
        facts.push_back(
            {QCoreApplication::translate("Timeline", "Starts in"), stepPlace(*scene.steps, slice.begin), {}});
    return facts;
}

} // namespace

void paintOverlay(QPainter& painter, TimelineScene& scene, const FlowsInView& inView)
{
    const double bottom = scene.size.height();
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (scene.range) {
        const double left = scene.xOf(scene.range->begin), right = scene.xOf(scene.range->end);
        const QRectF area(left, TimelineScene::kRulerHeight, right - left, bottom);
        fillInStrips(painter, clipped(scene, area), withAlpha(scene.theme.accent, 38));
        for (const double x : {left, right})
            painter.fillRect(QRectF(x, TimelineScene::kRulerHeight, 1, bottom), scene.theme.accent);
    }
    if (scene.marked)
        paintMarked(painter, scene, *scene.marked);
    if (scene.hovered && (!scene.selected || scene.hovered->id != scene.selected->id))
        paintOutline(painter, scene, *scene.hovered, false);
    if (scene.selected)
        paintOutline(painter, scene, *scene.selected, true);
    const profiler::TimeRange visible = scene.axis.visible();
    for (const profiler::Slice& slice : scene.several)
        if (slice.begin < visible.end && slice.end() >= visible.begin)
            paintOutline(painter, scene, slice, true);
    if (scene.pointerInside && scene.pointer.x() >= scene.headerWidth)
        fillInStrips(painter,
                     QRectF(std::floor(scene.pointer.x()), TimelineScene::kRulerHeight, 1,
                            scene.size.height() - TimelineScene::kRulerHeight),
                     withAlpha(scene.theme.text, 70));
    paintMarks(painter, scene);
    paintFlows(painter, scene, inView);
}

void paintMarkFlags(QPainter& painter, TimelineScene& scene)
{
    const QColor color = markColor(scene);
    painter.setRenderHint(QPainter::Antialiasing, true);
    for (const TimelineMark& mark : scene.marks.all()) {
        const double x = scene.xOf(mark.time), foot = TimelineScene::kAxisHeight;
        if (x < scene.headerWidth || x > scene.size.width())
            continue;
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        if (!mark.bookmark) {
            painter.drawPolygon(QPolygonF{QPointF(x - 4, foot - 7), QPointF(x + 5, foot - 7), QPointF(x + 0.75, foot)});
            continue;
        }
        const QColor ink = contrastRatio(color, Qt::white) >= 4.5 ? Qt::white : Qt::black;
        const double width = mark.note.isEmpty() ? 8 : std::min(kLongestNote, scene.labels.width(mark.note, ink)) + 10;
        painter.drawRoundedRect(QRectF(x, 2, width, foot - 4), 2, 2);
        painter.fillRect(QRectF(x, 2, 1.5, foot), color);
        if (!mark.note.isEmpty())
            scene.labels.draw(painter, x + 5, (foot - scene.labels.height()) / 2.0, width - 8, mark.note, ink);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void paintHoverCard(QPainter& painter, TimelineScene& scene)
{
    if (!scene.hovered || !scene.pointerInside)
        return;
    LabelCache& labels = scene.labels;
    const TimelineTheme& theme = scene.theme;
    const QString title = sliceTitle(*scene.trace, *scene.hovered);
    const std::vector<SliceDetail> facts = tooltipFacts(scene, *scene.hovered);
    const int line = labels.height() + 2;
    double labelWidth = 0, width = labels.width(title, theme.text);
    for (const SliceDetail& fact : facts)
        labelWidth = std::max(labelWidth, labels.width(fact.label, theme.dimText) + 12);
    for (const SliceDetail& fact : facts)
        width = std::max(width, labelWidth + labels.width(fact.value, theme.text));
    width = std::min(width, static_cast<double>(kHoverWidth));
    const QSizeF size(width + 2 * kHoverInset, line * (static_cast<double>(facts.size()) + 1) + 2 * kHoverInset + 3);
    QPointF at = scene.pointer + QPointF(kHoverOffset, kHoverOffset);
    if (at.x() + size.width() > scene.size.width())
        at.setX(std::max(0.0, scene.pointer.x() - kHoverOffset - size.width()));
    if (at.y() + size.height() > scene.size.height())
        at.setY(std::max(0.0, scene.pointer.y() - kHoverOffset - size.height()));
    at = at.toPoint();
    const QRectF card(at, size);
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(theme.border, 1));
    painter.setBrush(blend(theme.background, theme.text, theme.dark ? 0.1 : 0.01));
    drawInStrips(painter, card, [&] { painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4); });
    const ClassStyle& style = scene.colors(scene.hovered->kind, scene.hovered->name, theme.dark);
    painter.fillRect(QRectF(card.left() + 1, card.top() + 4, 3, card.height() - 8), style.fill);
    double y = card.top() + kHoverInset;
    labels.draw(painter, card.left() + kHoverInset, y, width + 1, title, theme.text);
    y += line + 3;
    for (const SliceDetail& fact : facts) {
        labels.draw(painter, card.left() + kHoverInset, y, labelWidth, fact.label, theme.dimText);
        labels.draw(painter, card.left() + kHoverInset + labelWidth, y, width - labelWidth + 1, fact.value, theme.text);
        y += line;
    }
}

PinnedCard::PinnedCard(const QString& title, const std::vector<SliceDetail>& facts, const QColor& edge, QWidget* parent)
    : QFrame(parent), m_text(title)
{
    setObjectName("pinnedTooltip");
    setAccessibleName(tr("Pinned tooltip of %1").arg(title));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setFocusPolicy(Qt::ClickFocus);
    setCursor(Qt::ArrowCursor);
    setMaximumWidth(kWidestPinned);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(8, 4, 4, 8);
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(2);
    grid->setColumnStretch(1, 1);
    auto* bar = new QFrame(this);
    bar->setAutoFillBackground(true);
    bar->setBackgroundRole(QPalette::Window); // not that of the card
    QPalette colors = bar->palette();
    colors.setColor(QPalette::Window, edge);
    bar->setPalette(colors);
    bar->setFixedHeight(3);
    grid->addWidget(bar, 0, 0, 1, 4);
    grid->addWidget(makeTooltipLabel(title, this), 1, 0, 1, 2);
    const auto addButton = [&](const char* iconStem, const QString& what, int column) {
        auto* button = new QToolButton(this);
        button->setIcon(icon(QLatin1String(iconStem)));
        button->setAutoRaise(true);
        button->setToolTip(what);
        button->setAccessibleName(what);
        grid->addWidget(button, 1, column, Qt::AlignTop);
        return button;
    };
    auto* copy = addButton("copy", tr("Copy"), 2);
    copy->setObjectName("pinnedCopy");
    connect(copy, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(m_text); });
    connect(addButton("close", tr("Close (Esc)"), 3), &QToolButton::clicked, this, &QWidget::deleteLater);
    int row = 2;
    for (const SliceDetail& fact : facts) {
        auto* label = new QLabel(fact.label, this);
        label->setForegroundRole(QPalette::PlaceholderText);
        grid->addWidget(label, row, 0, Qt::AlignTop);
        grid->addWidget(makeTooltipLabel(fact.value, this), row++, 1, 1, 3);
        m_text += QStringLiteral("\n%1: %2").arg(fact.label, fact.value);
    }
}

void PinnedCard::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape)
        deleteLater();
    else if (event->matches(QKeySequence::Copy))
        QApplication::clipboard()->setText(m_text);
    else
        QFrame::keyPressEvent(event);
}

void PinnedCard::mousePressEvent(QMouseEvent* event)
{
    m_grip = event->position().toPoint();
    raise();
    event->accept(); // not a click on the timeline below
}

void PinnedCard::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons().testFlag(Qt::LeftButton) && parentWidget()) {
        const QPoint to = mapToParent(event->position().toPoint()) - m_grip;
        move(std::clamp(to.x(), 0, std::max(0, parentWidget()->width() - width())),
             std::clamp(to.y(), 0, std::max(0, parentWidget()->height() - height())));
    }
    event->accept();
}

void PinnedCards::pin()
{
    const bool pointed = m_scene.pointerInside && m_scene.hovered;
    const auto& slice = pointed ? m_scene.hovered : m_scene.selected;
    if (m_scene.isEmpty() || !slice)
        return;
    std::erase_if(m_cards, [](const auto& card) { return card.isNull(); });
    if (m_cards.size() >= kMost)
        delete m_cards.front();
    QWidget* viewport = m_area.viewport();
    auto* card = new PinnedCard(sliceTitle(*m_scene.trace, *slice), tooltipFacts(m_scene, *slice),
                                m_scene.colors(slice->kind, slice->name, m_scene.theme.dark).fill, viewport);
    card->resize(card->sizeHint().boundedTo(QSize(kWidestPinned, viewport->height())));
    if (card->layout()->hasHeightForWidth())
        card->resize(card->width(), card->layout()->totalHeightForWidth(card->width()));
    const QPoint at =
        (pointed ? m_scene.pointer.toPoint() : m_scene.rectOf(*slice).topLeft().toPoint()) + kPinnedOffset;
    card->move(std::clamp(at.x(), 0, std::max(0, viewport->width() - card->width())),
               std::clamp(at.y(), 0, std::max(0, viewport->height() - card->height())));
    card->show();
    m_cards.emplace_back(card);
}

bool PinnedCards::closeLast()
{
    std::erase_if(m_cards, [](const auto& card) { return card.isNull(); });
    if (m_cards.empty())
        return false;
    delete m_cards.back();
    m_cards.pop_back();
    return true;
}

void PinnedCards::closeAll()
{
    while (closeLast()) {
    }
}

} // namespace app
