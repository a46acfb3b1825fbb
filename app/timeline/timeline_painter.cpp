#include "app/timeline/timeline_painter.h"

#include "app/look/display_text.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_overlay.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace app {

using profiler::CounterSample;

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

// Counters.

constexpr int kMargin = 4;     ///< logical pixels above and below the curve
constexpr int kAreaShare = 51; ///< 256ths of the curve's colour under it

/// The extent of the values of a counter in a pixel column, as y.
struct Column {
    static constexpr int kUnknown = std::numeric_limits<int>::min(); ///< above the visible area
    int top = kUnknown, bottom = kUnknown;                           ///< width of the line
    [[nodiscard]] bool known() const { return top != kUnknown; }
};

/// The first sample after `time`, from `at` on. It is near `guess`, so it is searched in growing steps.
std::size_t firstAfter(const std::vector<CounterSample>& samples, std::size_t at, std::size_t guess,
                       profiler::TraceTime time)
{
    std::size_t low = at; // no earlier one is later than `time`
    std::size_t high = samples.size();
    guess = std::clamp(guess, low, high);
    std::size_t step = 1;
    if (guess < high && samples[guess].time <= time) {
        for (low = guess + 1; step <= high - low; step *= 2) {
            if (samples[low + step - 1].time > time) {
                high = low + step - 1;
                break;
            }
            low += step;
        }
    } else {
        for (high = guess; step <= high - low; step *= 2) {
            if (samples[high - step].time <= time) {
                low = high - step + 1;
                break;
            }
            high -= step;
        }
    }
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (samples[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// A value holds until the next sample. The samples of one column become a vertical line, and a jump connects its two
/// values.
std::vector<Column> columnsOf(const CounterSeries& series, const TimeAxis& axis, double ratio, int width, int top,
                              int bottom)
{
    const auto& samples = series.samples();
    const double least = series.extent().least, span = series.extent().most - least;
    const double scale = span > 0 ? (bottom - top) / span : 0, base = span > 0 ? bottom : (bottom + top) / 2.0;
    const auto yOf = [&](double value) {
        const double y = base - (value - least) * scale + 0.5;
        return y > top && y < bottom ? static_cast<int>(y) : y <= top ? top : bottom; // also for NaN
    };
    std::vector<Column> columns(static_cast<std::size_t>(width));
    auto begin = axis.timeAt(0);
    std::size_t at = firstAfter(samples, 0, samples.size() / 2, begin);
    std::size_t before = 0; // samples in the previous column
    const auto end = axis.bounds().end;
    for (int x = 0; x < width && begin < end; ++x) {
        begin = axis.timeAt((x + 1) / ratio);
        const std::size_t next = firstAfter(samples, at, at + before, begin);
        Column& column = columns[static_cast<std::size_t>(x)];
        if (at != 0) // the value up to here
            column.top = column.bottom = yOf(samples[at - 1].value);
        if (at != next) {
            const auto extent = series.extent(at, next);
            column.bottom = std::max(column.bottom, yOf(extent.least));
            column.top = column.known() ? std::min(column.top, yOf(extent.most)) : yOf(extent.most);
        }
        before = next - at;
        at = next;
    }
    return columns;
}

/// A counter as a step line over a tinted area, in rows [top, bottom), scaled from its minimum to its maximum.
void drawCounter(QPainter& painter, const CounterSeries& series, const TimeAxis& axis, int top, int bottom,
                 const QColor& color)
{
    if (series.samples().empty())
        return;
    const int floor = bottom - kMargin;
    const auto columns = columnsOf(series, axis, 1.0, static_cast<int>(axis.width()), top + kMargin, floor - 1);
    QColor area = color;
    area.setAlpha(kAreaShare);
    // Consecutive columns with the same extent are one rectangle.
    for (std::size_t x = 0; x < columns.size();) {
        std::size_t end = x + 1;
        while (end < columns.size() && columns[end].top == columns[x].top && columns[end].bottom == columns[x].bottom)
            ++end;
        const int left = static_cast<int>(x), width = static_cast<int>(end - x);
        if (const Column& column = columns[x]; column.known()) {
            painter.fillRect(QRect(left, column.top, width, floor - column.top), area);
            painter.fillRect(QRect(left, column.top, width, column.bottom + 1 - column.top), color);
        }
        x = end;
    }
}

/// The same in rows of `image`.
void drawCounter(QImage& image, const CounterSeries& series, const TimeAxis& axis, double ratio, int top, int bottom,
                 const QColor& color)
{
    if (series.samples().empty())
        return;
    const int margin = static_cast<int>(std::lround(kMargin * ratio));
    const int thickness = std::max(1, static_cast<int>(std::lround(ratio)));
    const int floor = bottom - margin;
    const QRgb ink = color.rgb();
    const auto tint = [ink](QRgb under) {
        const auto mix = [](int a, int b) { return a + (b - a) * kAreaShare / 256; };
        return qRgb(mix(qRed(under), qRed(ink)), mix(qGreen(under), qGreen(ink)), mix(qBlue(under), qBlue(ink)));
    };
    const auto columns = columnsOf(series, axis, ratio, image.width(), top + margin, floor - thickness);
    const int width = image.width(), end = std::min(floor, image.height());
    // Draws column by column: the few image rows of a track stay in the cache, and pixels above the curve are not
    // touched.
    const int top0 = std::max(0, top);
    const auto stride = static_cast<std::ptrdiff_t>(image.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb)));
    auto* const pixels = reinterpret_cast<QRgb*>(image.bits());
    for (int x = 0; x < width && top0 < end; ++x) {
        const Column& column = columns[static_cast<std::size_t>(x)];
        if (!column.known())
            continue;
        const QRgb tinted = tint(pixels[top0 * stride + x]); // the background is the same in every row
        int y = std::max(column.top, top0);
        QRgb* at = pixels + y * stride + x;
        for (; y < std::min(column.bottom + thickness, end); ++y, at += stride)
            *at = ink;
        for (; y < end; ++y, at += stride)
            *at = tinted;
    }
}

// The ruler.

constexpr int kTickLength = 5;
constexpr double kNarrowestStep = 3;  ///< minimum width of a step that is drawn individually
constexpr double kNumberSpacing = 64; ///< minimum logical pixels between two step numbers
constexpr double kWholeLabel = 110;   ///< minimum width of a step with its duration

void paintAxis(QPainter& painter, TimelineScene& scene, const std::vector<AxisTick>& ticks)
{
    const TimelineTheme& theme = scene.theme;
    const double inset = (TimelineScene::kAxisHeight - scene.labels.height()) / 2.0;
    for (const AxisTick& tick : ticks) {
        const double x = scene.xOf(tick.time);
        painter.fillRect(QRectF(x, TimelineScene::kAxisHeight - kTickLength, 1, kTickLength), theme.border);
        // "160 ms" cut to "0 ms" would be wrong, and so would "1.2 s" cut to "1.".
        if (x + 4 < scene.headerWidth || x + 4 + scene.labels.width(tick.label, theme.text) > scene.size.width())
            continue;
        scene.labels.draw(painter, x + 4, inset, 200, tick.label, theme.text);
    }
}

/// Steps thinner than pixels are shaded as a whole.
void paintDenseSteps(QPainter& painter, const TimelineScene& scene, const QRectF& strip,
                     std::span<const profiler::analysis::Step> steps, const QColor& color)
{
    double done = strip.left();
    for (auto step = steps.begin(); step != steps.end();) {
        const double left = std::max(done, std::floor(scene.xOf(step->range.begin)));
        done = std::max(left, std::floor(scene.xOf(step->range.end))) + 1;
        painter.fillRect(QRectF(left, strip.top() + 3, done - left, strip.height() - 6), color);
        // Skips steps that end within the same pixel.
        const auto seen = scene.timeAt(done);
        step = std::partition_point(std::next(step), steps.end(),
                                    [&](const auto& later) { return later.range.end <= seen; });
    }
}

/// Steps: numbers if there is space, alternating shades if not, grey if dense.
void paintSteps(QPainter& painter, TimelineScene& scene)
{
    if (!scene.hasSteps())
        return;
    const TimelineTheme& theme = scene.theme;
    const QRectF strip(scene.headerWidth, TimelineScene::kAxisHeight, scene.axis.width(), TimelineScene::kStepsHeight);
    const auto steps = stepsIn(*scene.steps, scene.axis.visible());
    if (steps.empty())
        return;
    const QColor fill = classStyle(SliceClass::Step, theme.dark).fill, second = blend(fill, theme.header, 0.45);
    const double spacing = (std::min(strip.right(), scene.xOf(steps.back().range.end)) -
                            std::max(strip.left(), scene.xOf(steps.front().range.begin))) /
                           static_cast<double>(steps.size());
    if (spacing < kNarrowestStep) {
        paintDenseSteps(painter, scene, strip, steps, second);
        return;
    }
    std::vector<std::pair<double, QString>> numbers;
    // Numbers are shown at regular intervals, at round step numbers.
    const std::int64_t every = niceStep(kNumberSpacing / spacing);
    const double y = strip.top() + (strip.height() - scene.labels.height()) / 2.0;
    for (const profiler::analysis::Step& step : steps) {
        const double left = std::max(strip.left(), scene.xOf(step.range.begin));
        const double right = std::min(strip.right(), scene.xOf(step.range.end));
        const QRectF rect(left, strip.top() + 2, std::max(1.0, right - left - 1), strip.height() - 4);
        painter.fillRect(rect, step.index % 2 == 0 ? fill : second);
        if (rect.width() > kWholeLabel) {
            // A step that is cut off on the left has its number only if it does not overlap the title of the next one.
            while (!numbers.empty() &&
                   numbers.back().first + scene.labels.width(numbers.back().second, theme.text) > rect.left())
                numbers.pop_back();
            scene.labels.draw(painter, rect.left() + 4, y, rect.width() - 6,
                              stepTitle(step) + QStringLiteral(" · ") + formatDuration(step.range.duration()),
                              theme.text);
        } else if (step.index % every == 0) {
            numbers.emplace_back(rect.left() + 4, formatCount(step.index));
        }
    }
    for (const auto& [x, number] : numbers)
        scene.labels.draw(painter, x, y, kNumberSpacing, number, theme.text);
}

void paintRange(QPainter& painter, TimelineScene& scene)
{
    if (!scene.range)
        return;
    const double left = scene.xOf(scene.range->begin), right = scene.xOf(scene.range->end);
    const TimelineTheme& theme = scene.theme;
    painter.fillRect(QRectF(left, 0, right - left, TimelineScene::kRulerHeight),
                     QColor(theme.accent.red(), theme.accent.green(), theme.accent.blue(), 60));
    QString text = formatDuration(scene.range->duration());
    if (scene.hasSteps())
        if (const QString span = stepSpan(*scene.steps, *scene.range); !span.isEmpty())
            text += QStringLiteral(" · ") + span;
    const QColor ink = contrastRatio(theme.accent, Qt::white) >= 4.5 ? Qt::white : Qt::black;
    const double width = scene.labels.width(text, ink) + 12;
    const double begin = std::max(left, static_cast<double>(scene.headerWidth)),
                 end = std::min(right, static_cast<double>(scene.size.width()));
    if (end <= begin)
        return;
    const double x =
        std::clamp((begin + end - width) / 2, static_cast<double>(scene.headerWidth), scene.size.width() - width);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.accent);
    painter.drawRoundedRect(QRectF(x, 3, width, TimelineScene::kAxisHeight - 6), 3, 3);
    scene.labels.draw(painter, x + 6, (TimelineScene::kAxisHeight - scene.labels.height()) / 2.0, width, text, ink);
}

void paintRuler(QPainter& painter, TimelineScene& scene, const std::vector<AxisTick>& ticks)
{
    const QRect ruler(scene.headerWidth, 0, scene.size.width() - scene.headerWidth, TimelineScene::kRulerHeight);
    painter.save();
    painter.setClipRect(ruler);
    painter.fillRect(ruler, scene.theme.header);
    paintAxis(painter, scene, ticks);
    paintSteps(painter, scene);
    paintMarkFlags(painter, scene);
    paintRange(painter, scene);
    painter.restore();
    painter.fillRect(QRect(0, TimelineScene::kRulerHeight - 1, scene.size.width(), 1), scene.theme.border);
}

// The headers of the rows.

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
    if (series.extent().least == series.extent().most) {
        const int middle = top + (row.height - scene.labels.height()) / 2;
        return drawRight(series.extent().most, middle);
    }
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
    painter.fillRect(rect, index == scene.draggedRow ? blend(theme.header, theme.accent, 0.25)
                           : group                   ? blend(theme.header, theme.text, 0.05)
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

} // namespace

LongGaps::LongGaps(std::span<const DeviceGaps::Gap> all) : m_all(all), m_longest(all.size() / kBlock + 1)
{
    for (std::size_t i = 0; i < all.size(); ++i)
        m_longest[i / kBlock] = std::max(m_longest[i / kBlock], all[i].range.duration());
}

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
    grid.reserve(ticks.size());
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
                              blend(style.text, style.fill, 0.25));
    }
}

void TimelinePainter::putLane(int top, int bottom, const LaneStrip& strip, const LaneStrip& under)
{
    if (!m_vector)
        drawLane(m_lanes, 0, top, bottom, strip, m_ratio);
    else if (bottom > std::max(top, 0))
        drawLane(*m_vector, std::max(top, 0), bottom, strip, under);
}

void TimelinePainter::putHits(int top, int bottom, const LaneStrip& strip, const QColor& color)
{
    if (!m_vector)
        return drawHits(m_lanes, top, bottom, strip, color.rgb());
    for (const LaneStrip::Span& hit : strip.hits)
        m_vector->fillRect(QRect(hit.left, top, hit.right - hit.left, bottom - top), color);
}

void TimelinePainter::putCounter(TimelineScene& scene, const TrackRow& row, int top, int bottom)
{
    const QColor& color = classStyle(SliceClass::CopyToDevice, scene.theme.dark).fill;
    if (m_vector)
        drawCounter(*m_vector, scene.samples(row.track), scene.axis, top, bottom, color);
    else
        drawCounter(m_lanes, scene.samples(row.track), scene.axis, scene.ratio, top, bottom, color);
}

} // namespace app
