#include "app/look/number_format.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_painter.h"

#include <QCoreApplication>
#include <algorithm>

namespace app {

namespace {

constexpr int kIndent = 14;
constexpr int kArrowRoom = 18;
constexpr int kInset = 6;
constexpr int kScaleGap = 8; ///< space between the name of a counter and its minimum and maximum

QString text(const char* source)
{
    return QCoreApplication::translate("Timeline", source);
}

/// The triangle of a collapsible row: right if collapsed, down if expanded.
void paintArrow(QPainter& painter, QPointF center, bool open, const QColor& color)
{
    const double size = 3.5;
    QPolygonF triangle;
    if (open)
        triangle << center + QPointF(-size, -size / 2) << center + QPointF(size, -size / 2)
                 << center + QPointF(0, size);
    else
        triangle << center + QPointF(-size / 2, -size) << center + QPointF(-size / 2, size)
                 << center + QPointF(size, 0);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(triangle);
}

/// A pin icon for pinned rows.
void paintPin(QPainter& painter, QPointF at, const QColor& color)
{
    painter.setPen(QPen(color, 1.4));
    painter.setBrush(color);
    painter.drawEllipse(at, 2.6, 2.6);
    painter.drawLine(at + QPointF(0, 2.6), at + QPointF(0, 7));
}

/// Minimum and maximum of a counter, or its only value, next to its curve. Returns their width.
double paintScale(QPainter& painter, TimelineScene& scene, const TrackRow& row, double right)
{
    const CounterSeries& series = scene.samples(row.track);
    if (series.samples().empty())
        return 0;
    const int top = scene.topOf(row);
    const auto drawRight = [&](double value, double y) {
        const QString label = formatValue(value, row.detail);
        const double width = scene.labels.width(label, scene.theme.dimText);
        scene.labels.draw(painter, right - width, y, width + 1, label, scene.theme.dimText);
        return width;
    };
    if (series.extent().least == series.extent().most)
        return drawRight(series.extent().most, top + (row.height - scene.labels.height()) / 2);
    return std::max(drawRight(series.extent().most, top + 2),
                    drawRight(series.extent().least, top + row.height - 2 - scene.labels.height()));
}

/// A name that is too long for one line continues on a second one, so that counters of one kind can be distinguished.
void paintCounterName(QPainter& painter, TimelineScene& scene, const TrackRow& row, QPointF at, double width)
{
    const QColor& ink = scene.theme.text;
    qsizetype end = row.name.size();
    while (end > 0 && scene.labels.width(row.name.left(end), ink) > width)
        end = row.name.lastIndexOf(' ', end - 1);
    if (end <= 0)
        end = row.name.size();
    scene.labels.draw(painter, at.x(), at.y(), width, row.name.left(end), ink);
    scene.labels.draw(painter, at.x(), at.y() + scene.labels.height(), width, row.name.mid(end + 1), ink);
}

/// The secondary text of a row; shows the number of visible levels if it is smaller than the total.
QString detailOf(const TrackRow& row)
{
    const int more = row.depths - row.firstDepth - row.lanes;
    if (row.kind != TrackRow::Kind::Track || !row.open || more <= 0)
        return row.detail;
    return text("%1 of %2 levels").arg(row.lanes).arg(row.depths);
}

/// Name and secondary text: below the name if the row is high enough, otherwise after it if it fits.
/// @param line  of the name; as high as the row's first line
void paintName(QPainter& painter, TimelineScene& scene, const TrackRow& row, const QRectF& line)
{
    const TimelineTheme& theme = scene.theme;
    const QString detail = detailOf(row);
    const double used = scene.labels.draw(painter, line.x(), line.y(), line.width(), row.name, theme.text);
    const double left = line.width() - used - 8;
    if (row.height >= line.height() + scene.labels.height())
        scene.labels.draw(painter, line.x(), scene.topOf(row) + line.height() - 2, line.width(), detail, theme.dimText);
    else if (left > scene.labels.width(detail, theme.dimText))
        scene.labels.draw(painter, line.x() + used + 8, line.y(), left, detail, theme.dimText);
}

void paintRowHeader(QPainter& painter, TimelineScene& scene, int index)
{
    const TrackRow& row = scene.rows.at(index);
    const TimelineTheme& theme = scene.theme;
    const int top = scene.topOf(row);
    const QRect rect(0, top, scene.headerWidth, row.height);
    const bool group = row.kind == TrackRow::Kind::Group || row.kind == TrackRow::Kind::Hidden;
    painter.fillRect(rect, index == scene.draggedRow ? mixed(theme.header, theme.accent, 0.25)
                           : group                   ? mixed(theme.header, theme.text, 0.05)
                                                     : theme.header);
    const bool current = scene.focused && index == scene.currentRow;
    if (current)
        painter.fillRect(QRect(0, top, 3, row.height), theme.accent);
    const int first = group || row.kind == TrackRow::Kind::Counter ? std::min(row.height, TrackRows::kGroupHeight)
                                                                   : row.laneHeight + 2 * TrackRows::kPadding;
    double x = kInset + row.indent * kIndent;
    if (row.foldable)
        paintArrow(painter, QPointF(x + 6, top + first / 2.0), row.open, theme.dimText);
    x += kArrowRoom;
    double right = scene.headerWidth - kInset - 4;
    if (row.pinned && row.indent == 0) {
        paintPin(painter, QPointF(right - 3, top + 9), theme.accent);
        right -= 12;
    }
    const double y = top + (first - scene.labels.height()) / 2.0;
    if (row.kind == TrackRow::Kind::Counter) {
        const double scale = paintScale(painter, scene, row, right);
        paintCounterName(painter, scene, row, {x, y}, std::max(0.0, right - x - scale - kScaleGap));
    } else {
        paintName(painter, scene, row, QRectF(x, y, right - x, first));
    }
    painter.fillRect(QRect(0, top + row.height - 1, scene.headerWidth, 1), theme.grid);
}

} // namespace

void paintHeader(QPainter& painter, TimelineScene& scene)
{
    const TimelineTheme& theme = scene.theme;
    const QRect column(0, TimelineScene::kRulerHeight, scene.headerWidth,
                       scene.size.height() - TimelineScene::kRulerHeight);
    painter.fillRect(QRect(0, 0, scene.headerWidth, scene.size.height()), theme.header);
    painter.save();
    for (const bool pinned : {false, true}) {
        const bool stays = pinned && scene.pinnedHeight() > 0;
        painter.setClipRect(column & (stays ? scene.pinnedRect() : scene.scrolledRect()));
        for (int i = 0; i < scene.rows.count(); ++i)
            if (scene.rows.at(i).pinned == pinned && scene.inView(scene.rows.at(i)))
                paintRowHeader(painter, scene, i);
    }
    painter.restore();
    if (scene.draggedRow >= 0 && scene.draggedRow < scene.rows.count() && scene.dropLine) {
        const int y = scene.yOf(scene.rows.at(scene.draggedRow), *scene.dropLine);
        painter.fillRect(QRect(0, y - 1, scene.headerWidth, 2), theme.accent);
    }
    const double inset = (TimelineScene::kStepsHeight - scene.labels.height()) / 2.0;
    if (scene.hasSteps())
        scene.labels.draw(painter, kInset + kArrowRoom, TimelineScene::kAxisHeight + inset, scene.headerWidth - 40,
                          text("Steps"), theme.dimText);
    painter.fillRect(QRect(0, TimelineScene::kRulerHeight - 1, scene.headerWidth, 1), theme.border);
    painter.fillRect(QRect(scene.headerWidth - 1, 0, 1, scene.size.height()), theme.border);
}

} // namespace app
