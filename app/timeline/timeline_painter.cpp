#include "app/timeline/timeline_painter.h"

#include "app/look/number_format.h"
#include "app/look/short_name.h"
#include "app/tables/slice_details.h"

#include <algorithm>
#include <cmath>

namespace app {

namespace {

constexpr double kLabelInset = 4;
constexpr double kLabelGap = 7;
constexpr double kNarrowestLabel = 16; ///< minimum width in logical pixels of a slice with a label
constexpr int kThinnestStripe = 2;     ///< tracks of a collapsed group
constexpr int kOverviewInset = 4;
constexpr std::size_t kMostGaps = 4000; ///< maximum visible gaps of a stream; if there are more, thin ones are left out
constexpr double kThinGap = 2;          ///< logical pixels
constexpr double kHitHeight = 3;        ///< logical pixels at the bottom of a lane for marking matches

/// Image row for a y within all rows that belongs to `row`.
int deviceY(const TimelineScene& scene, const TrackRow& row, int rowsY)
{
    return static_cast<int>(std::lround((scene.yOf(row, rowsY) - TimelineScene::kRulerHeight) * scene.ratio));
}

/// Tracks with a visible row.
std::vector<profiler::TrackId> shownTracks(const TimelineScene& scene)
{
    std::vector<profiler::TrackId> tracks;
    for (const TrackRow& row : scene.rows.all())
        if (row.kind == TrackRow::Kind::Track && scene.inView(row))
            tracks.push_back(row.track);
    return tracks;
}

} // namespace

void TimelinePainter::paint(QPainter& painter, TimelineScene& scene)
{
    const QRect lanes = scene.lanesRect();
    if (lanes.width() <= 0 || lanes.height() <= 0)
        return;
    if (m_longGapsOf != scene.gaps)
        m_longGaps.clear();
    m_longGapsOf = scene.gaps;
    const auto ticks = axisTicks(scene.axis);
    Key key{scene.trace,           scene.axis,        scene.theme,   scene.size,
            scene.ratio,           scene.headerWidth, scene.scrollY, scene.rows.revision(),
            scene.colors.scheme(), scene.hits,        scene.gaps,    scene.allFlows,
            scene.zooming};
    if (key != m_key)
        paintLanes(scene, ticks);
    m_key = std::move(key);
    drawLanes(painter, scene);
    paintAbove(painter, scene, ticks);
    if (!isSettled())
        m_key = {};
}

void TimelinePainter::drawLanes(QPainter& painter, const TimelineScene& scene) const
{
    QRectF ground = scene.lanesRect();
    const QRectF filled(0, 0, m_lanes.width(), m_filled); // in its own pixels
    if (!filled.isEmpty())                                // for QPainter this is the whole image
        painter.drawImage(QRectF(ground.topLeft(), filled.size() / scene.ratio), m_lanes, filled);
    ground.setTop(ground.top() + m_filled / scene.ratio);
    painter.fillRect(ground, scene.theme.background);
}

void TimelinePainter::paintVector(QPainter& painter, TimelineScene& scene)
{
    const QRect lanes = scene.lanesRect();
    if (lanes.width() <= 0 || lanes.height() <= 0)
        return;
    const auto ticks = axisTicks(scene.axis);
    painter.fillRect(QRect(QPoint(0, 0), scene.size), scene.theme.background);
    painter.translate(lanes.topLeft());
    m_vector = &painter;
    paintLanes(scene, ticks);
    m_vector = nullptr;
    m_key = {};
    painter.translate(-lanes.topLeft());
    paintAbove(painter, scene, ticks);
}

void TimelinePainter::paintAbove(QPainter& painter, TimelineScene& scene, const std::vector<AxisTick>& ticks)
{
    const QRect lanes = scene.lanesRect();
    painter.setClipRect(lanes & scene.scrolledRect());
    paintLabels(painter, scene, false);
    painter.setClipRect(lanes & scene.pinnedRect());
    paintLabels(painter, scene, true);
    painter.setClipRect(lanes);
    paintOverlay(painter, scene, m_flows);
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
    m_ratio = scene.ratio;
    m_boxes.clear();
    m_gapLabels.clear();
    if (!scene.allFlows) // release the trace and the search matches when they are no longer used
        m_flowMemory = {};
    m_flows = scene.allFlows ? flowsInView(scene.trace, shownTracks(scene), scene.axis.visible(), m_flowMemory)
                             : FlowsInView{};
    LaneBuilder builder(*scene.trace, scene.colors, scene.theme, scene.axis, scene.ratio);
    builder.setHits(scene.hits.get());
    if (!m_vector) { // an image for a file has another scale
        m_memory.begin(scene.trace, scene.axis, scene.ratio, builder.width(),
                       scene.zooming ? profiler::LodEdges::Coarse : profiler::LodEdges::Fine,
                       scene.colors.palette(scene.theme.dark));
        builder.setMemory(&m_memory);
    }
    std::vector<int> grid;
    for (const AxisTick& tick : ticks)
        grid.push_back(static_cast<int>(std::lround(scene.axis.xOf(tick.time) * scene.ratio)));
    m_filled = 0;
    // Pinned rows last, because they cover the rows that scroll below them.
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
    m_filled = std::clamp(device(row.bottom()), m_filled, m_lanes.height());
    const bool track = row.kind == TrackRow::Kind::Track;
    if (m_vector || !track)
        putLane(device(row.top), device(row.bottom()), builder.blank(), {});
    if (track)
        paintTrack(scene, builder, row);
    if (row.kind == TrackRow::Kind::Group && !row.open)
        paintOverview(scene, builder, row);
    if (row.kind == TrackRow::Kind::Counter)
        putCounter(scene, row, device(row.top), device(row.bottom()));
}

void TimelinePainter::paintTrack(TimelineScene& scene, LaneBuilder& builder, const TrackRow& row)
{
    const auto device = [&](int y) { return deviceY(scene, row, y); };
    int filled = device(row.top);
    auto& strips = builder.build(row.track, row.firstDepth, row.lanes);
    if (scene.gaps && scene.trace->track(row.track).kind == profiler::TrackKind::Stream && row.firstDepth == 0)
        paintGaps(scene, builder, row, strips.front());
    for (int lane = 0; lane < row.lanes; ++lane) {
        const int top = row.laneTop(row.firstDepth + lane);
        const int y = scene.yOf(row, top);
        if (y + row.laneHeight <= TimelineScene::kRulerHeight || y >= scene.size.height())
            continue;
        const LaneStrip& strip = strips[static_cast<std::size_t>(lane)];
        const int bottom = device(top + row.laneHeight - 1);
        if (!m_vector) // the background is visible only between lanes
            putLane(filled, device(top), builder.blank(), {});
        putLane(device(top), bottom, strip, builder.blank());
        filled = bottom;
        putHits(bottom - static_cast<int>(std::lround(kHitHeight * scene.ratio)), bottom, strip, scene.theme.found);
        for (const LaneStrip::Box& box : strip.boxes)
            m_boxes.push_back({QRectF(scene.headerWidth + box.left / scene.ratio, y,
                                      (box.right - box.left) / scene.ratio, row.laneHeight - 1),
                               box, row.pinned && scene.pinnedHeight() > 0});
    }
    if (!m_vector)
        putLane(filled, device(row.bottom()), builder.blank(), {});
}

/// Idle intervals of the device, hatched, with their cause if there is space.
void TimelinePainter::paintGaps(TimelineScene& scene, LaneBuilder& builder, const TrackRow& row, LaneStrip& lane)
{
    const profiler::DeviceId device = scene.trace->track(row.track).device;
    const auto gaps = scene.gaps->in(device, scene.axis.visible());
    const int y = scene.yOf(row, row.laneTop(0));
    const auto put = [&](const DeviceGaps::Gap& gap) {
        const auto span = builder.addIdle(lane, gap.range);
        if (span.right - span.left >= kNarrowestLabel * scene.ratio)
            m_gapLabels.push_back({QRectF(scene.headerWidth + span.left / scene.ratio, y,
                                          (span.right - span.left) / scene.ratio, row.laneHeight - 1),
                                   gap.cause, row.pinned && scene.pinnedHeight() > 0});
    };
    if (gaps.size() <= kMostGaps) {
        std::for_each(gaps.begin(), gaps.end(), put);
        return;
    }
    const LongGaps& known = m_longGaps.try_emplace(device, scene.gaps->byDevice.at(device)).first->second;
    known.forEach(gaps, profiler::Nanoseconds{static_cast<std::int64_t>(kThinGap * scene.axis.nsPerPixel())}, put);
}

/// A collapsed group still shows one stripe per track.
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
        putLane(deviceY(scene, row, top), deviceY(scene, row, bottom), strip, builder.blank());
    }
}

/// Kernel names may have thousands of letters, so each is shortened once.
QString TimelinePainter::labelOf(const std::shared_ptr<const profiler::Trace>& trace, const profiler::Slice& slice)
{
    const std::string_view name = trace->name(slice);
    if (slice.kind == profiler::ActivityKind::Step || name.empty())
        return sliceTitle(*trace, slice);
    if (m_shortNamesOf != trace) {
        m_shortNamesOf = trace;
        m_shortNames.clear();
    }
    const auto [known, isNew] = m_shortNames.try_emplace(slice.name.value);
    if (isNew)
        known->second = shortName(name);
    return known->second;
}

void TimelinePainter::paintLabels(QPainter& painter, TimelineScene& scene, bool pinned)
{
    const auto inset = [&](const QRectF& lane) { return (lane.height() - scene.labels.height()) / 2; };
    for (const GapLabel& gap : m_gapLabels) {
        if (gap.pinned != pinned)
            continue;
        const QString word = gapWord(gap.cause);
        const double whole = scene.labels.width(word, scene.theme.text);
        const double width = std::min(whole, gap.rect.width() - 2 * kLabelInset);
        // A label background too narrow for a letter would look like a slice.
        if (width < std::min(whole, scene.labels.width(word.left(4) + QStringLiteral("…"), scene.theme.text)))
            continue;
        const double high = std::min(gap.rect.height() - 4, scene.labels.height() + 2.0);
        const QRectF plate(std::round(gap.rect.center().x() - width / 2) - 2,
                           gap.rect.top() + std::round((gap.rect.height() - high) / 2), width + 4, high);
        painter.fillRect(plate, scene.theme.background);
        scene.labels.draw(painter, plate.left() + 2, gap.rect.top() + inset(gap.rect), width + 1, word,
                          scene.theme.text);
    }
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
        const QPointF at = box.rect.topLeft() + QPointF(kLabelInset, inset(box.rect));
        const QString text = labelOf(scene.trace, box.what.slice);
        const double used = scene.labels.draw(painter, at.x(), at.y(), room, text, style.text);
        const QString duration = formatDuration(box.what.slice.duration);
        const double rest = room - used - kLabelGap;
        if (used > 0 && rest > scene.labels.width(duration, style.text))
            scene.labels.draw(painter, at.x() + used + kLabelGap, at.y(), rest, duration,
                              mixed(style.text, style.fill, 0.25));
    }
}

} // namespace app
