#include "app/widgets/timeline_painter.h"

#include "app/models/slice_details.h"
#include "app/widgets/number_format.h"

#include <algorithm>
#include <cmath>

namespace app {

namespace {

constexpr double kLabelInset = 4;
constexpr double kLabelGap = 7;
constexpr double kNarrowestLabel = 16; ///< logical pixels of a slice that may carry one
constexpr int kThinnestStripe = 2;     ///< of a folded group's tracks
constexpr int kOverviewInset = 4;
constexpr double kHitHeight = 3; ///< logical pixels at a lane's foot that mark what was found

/// Row of the lanes' image of a place within all rows that belongs to `row`.
int deviceY(const TimelineScene& scene, const TrackRow& row, int rowsY)
{
    return static_cast<int>(std::lround((scene.yOf(row, rowsY) - TimelineScene::kRulerHeight) * scene.ratio));
}

} // namespace

void TimelinePainter::paint(QPainter& painter, TimelineScene& scene)
{
    const QRect lanes = scene.lanesRect();
    if (lanes.width() <= 0 || lanes.height() <= 0)
        return;
    const auto ticks = axisTicks(scene.axis);
    Key key{scene.trace,           scene.axis,        scene.theme,   scene.size,
            scene.ratio,           scene.headerWidth, scene.scrollY, scene.rows.revision(),
            scene.colors.scheme(), scene.hits};
    if (key != m_key)
        paintLanes(scene, ticks);
    m_key = std::move(key);
    painter.drawImage(lanes.topLeft(), m_lanes);
    painter.setClipRect(lanes & scene.scrolledRect());
    paintLabels(painter, scene, false);
    painter.setClipRect(lanes & scene.pinnedRect());
    paintLabels(painter, scene, true);
    painter.setClipRect(lanes);
    paintOverlay(painter, scene);
    painter.setClipping(false);
    paintRuler(painter, scene, ticks);
    paintHeader(painter, scene);
    if (scene.pinnedHeight() > 0)
        painter.fillRect(QRect(0, scene.pinnedRect().bottom(), scene.size.width(), 1), scene.theme.border);
    paintHoverCard(painter, scene);
}

void TimelinePainter::paintLanes(TimelineScene& scene, const std::vector<AxisTick>& ticks)
{
    const QRect lanes = scene.lanesRect();
    const QSize pixels = (QSizeF(lanes.size()) * scene.ratio).toSize();
    if (m_lanes.size() != pixels)
        m_lanes = QImage(pixels, QImage::Format_RGB32);
    m_lanes.setDevicePixelRatio(scene.ratio);
    m_boxes.clear();
    LaneBuilder builder(*scene.trace, scene.colors, scene.theme, scene.axis, scene.ratio);
    builder.setHits(scene.hits.get());
    std::vector<int> grid;
    for (const AxisTick& tick : ticks)
        grid.push_back(static_cast<int>(std::lround(scene.axis.xOf(tick.time) * scene.ratio)));
    const int below =
        std::clamp(static_cast<int>((scene.rows.height() - scene.scrollY) * scene.ratio), 0, m_lanes.height());
    builder.setBackground(scene.theme.background, scene.theme.background, {});
    drawLane(m_lanes, 0, below, m_lanes.height(), builder.blank());
    // Pinned rows last: they lie over those that scroll below them.
    for (const bool pinned : {false, true}) {
        bool banded = false;
        for (const TrackRow& row : scene.rows.all()) {
            banded = !banded;
            if (row.pinned != pinned || !scene.inView(row))
                continue;
            const QColor& ground = banded ? scene.theme.band : scene.theme.background;
            const bool heading = row.kind == TrackRow::Kind::Group || row.kind == TrackRow::Kind::Hidden;
            builder.setBackground(heading ? scene.theme.header : ground, scene.theme.grid, grid);
            paintRow(scene, builder, row);
        }
    }
}

void TimelinePainter::paintRow(TimelineScene& scene, LaneBuilder& builder, const TrackRow& row)
{
    const auto device = [&](int y) { return deviceY(scene, row, y); };
    drawLane(m_lanes, 0, device(row.top), device(row.bottom()), builder.blank());
    if (row.kind == TrackRow::Kind::Group && !row.open)
        paintOverview(scene, builder, row);
    if (row.kind == TrackRow::Kind::Counter)
        drawCounter(m_lanes, scene.samples(row.track), scene.axis, scene.ratio, device(row.top), device(row.bottom()),
                    classStyle(SliceClass::CopyToDevice, scene.theme.dark).fill);
    if (row.kind != TrackRow::Kind::Track)
        return;
    const auto& strips = builder.build(row.track, row.firstDepth, row.lanes);
    const QRgb found = scene.theme.found.rgb();
    for (int lane = 0; lane < row.lanes; ++lane) {
        const int top = row.laneTop(row.firstDepth + lane);
        const int y = scene.yOf(row, top);
        if (y + TrackRows::kLaneHeight <= TimelineScene::kRulerHeight || y >= scene.size.height())
            continue;
        const LaneStrip& strip = strips[static_cast<std::size_t>(lane)];
        const int bottom = device(top + TrackRows::kLaneHeight - 1);
        drawLane(m_lanes, 0, device(top), bottom, strip);
        drawHits(m_lanes, bottom - static_cast<int>(std::lround(kHitHeight * scene.ratio)), bottom, strip, found);
        for (const LaneStrip::Box& box : strip.boxes)
            m_boxes.push_back({QRectF(scene.headerWidth + box.left / scene.ratio, y,
                                      (box.right - box.left) / scene.ratio, TrackRows::kLaneHeight - 1),
                               box, row.pinned && scene.pinnedHeight() > 0});
    }
}

/// A folded group still shows what its tracks do: a stripe each.
void TimelinePainter::paintOverview(TimelineScene& scene, LaneBuilder& builder, const TrackRow& row)
{
    const int room = row.height - 2 * kOverviewInset;
    const int stripes = std::min(static_cast<int>(row.members.size()), room / (kThinnestStripe + 1));
    for (int i = 0; i < stripes; ++i) {
        const profiler::TrackId member = row.members[static_cast<std::size_t>(i)];
        if (scene.trace->track(member).kind == profiler::TrackKind::Counter)
            continue;
        const int top = row.top + kOverviewInset + room * i / stripes;
        const int bottom = row.top + kOverviewInset + room * (i + 1) / stripes - (stripes > 1);
        const LaneStrip& strip = builder.build(member, 0, 1).front();
        drawLane(m_lanes, 0, deviceY(scene, row, top), deviceY(scene, row, bottom), strip);
    }
}

void TimelinePainter::paintLabels(QPainter& painter, TimelineScene& scene, bool pinned) const
{
    const double inset = (TrackRows::kLaneHeight - 1 - scene.labels.height()) / 2.0;
    for (const Box& box : m_boxes) {
        if (box.pinned != pinned)
            continue;
        const ClassStyle& style = *box.what.style;
        if (box.what.slice.is(profiler::slice_flag::kOpen)) {
            painter.setPen(QPen(style.edge, 2, Qt::DotLine));
            painter.drawLine(box.rect.topRight() - QPointF(1, 0), box.rect.bottomRight() - QPointF(1, 0));
        }
        if (box.rect.width() < kNarrowestLabel)
            continue;
        const double room = box.rect.width() - 2 * kLabelInset;
        const QPointF at = box.rect.topLeft() + QPointF(kLabelInset, inset);
        const QString text = sliceTitle(*scene.trace, box.what.slice);
        const double used = scene.labels.draw(painter, at.x(), at.y(), room, text, style.text);
        const QString duration = formatDuration(box.what.slice.duration);
        const double rest = room - used - kLabelGap;
        if (used > 0 && rest > scene.labels.width(duration, style.text))
            scene.labels.draw(painter, at.x() + used + kLabelGap, at.y(), rest, duration,
                              mixed(style.text, style.fill, 0.25));
    }
}

} // namespace app
