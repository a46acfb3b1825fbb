#include "app/timeline/timeline_canvas.h"

#include <QBuffer>
#include <QSvgGenerator>

// The visible part as pixels and as vectors.
namespace app {

namespace {

/// The scene without elements that follow the pointer.
TimelineScene still(const TimelineScene& scene, const QFont& font, double ratio)
{
    TimelineScene copy = scene;
    copy.hovered.reset();
    copy.pointerInside = false;
    copy.focused = false;
    copy.zooming = false;
    copy.ratio = ratio;
    copy.labels = LabelCache();
    copy.labels.setFont(font, ratio);
    return copy;
}

} // namespace

QImage TimelineCanvas::picture(double ratio) const
{
    QImage image((QSizeF(m_scene.size) * ratio).toSize(), QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    image.fill(m_scene.theme.background);
    if (m_scene.isEmpty())
        return image;
    TimelineScene scene = still(m_scene, font(), ratio);
    QPainter painter(&image);
    TimelinePainter().paint(painter, scene);
    return image;
}

QByteArray TimelineCanvas::svg() const
{
    QBuffer buffer;
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(m_scene.size);
    generator.setViewBox(QRect(QPoint(0, 0), m_scene.size));
    generator.setTitle(tr("Timeline"));
    QPainter painter(&generator);
    if (!m_scene.isEmpty()) {
        TimelineScene scene = still(m_scene, font(), 1);
        scene.labels.setVector(true);
        TimelinePainter().paintVector(painter, scene);
    }
    painter.end();
    return buffer.data();
}

/// A lane as rectangles; parts equal to `under`, which is already drawn, are left out.
static void drawLaneVector(QPainter& painter, int top, int bottom, const LaneStrip& lane, const LaneStrip& under)
{
    const auto width = static_cast<int>(lane.pixels.size());
    const auto at = [](const LaneStrip& strip, int x) { return strip.pixels[static_cast<std::size_t>(x)]; };
    for (int x = 0; x < width;) {
        const QRgb color = at(lane, x);
        int end = x + 1;
        while (end < width && at(lane, end) == color)
            ++end;
        const bool same = !under.pixels.empty() && at(under, x) == color && at(under, end - 1) == color;
        if (!same)
            painter.fillRect(QRect(x, top, end - x, bottom - top), QColor(color));
        x = end;
    }
    constexpr int kPeriod = 8;
    const double height = bottom - top;
    for (const LaneStrip::Hatched& hatch : lane.hatches) {
        painter.setPen(QPen(QColor(hatch.color), hatch.sparse ? 1.4 : 2.1, Qt::SolidLine, Qt::FlatCap));
        // Stripes go down to the left and are cut at either end of the hatch.
        for (int x = hatch.left / kPeriod * kPeriod; x < hatch.right + height; x += kPeriod) {
            const double from = std::clamp<double>(x, hatch.left, hatch.right),
                         to = std::clamp<double>(x - height, hatch.left, hatch.right);
            if (from > to)
                painter.drawLine(QPointF(from, top + (x - from)), QPointF(to, top + (x - to)));
        }
    }
}

void TimelinePainter::putLane(int top, int bottom, const LaneStrip& strip, const LaneStrip& under)
{
    if (!m_vector)
        drawLane(m_lanes, 0, top, bottom, strip, m_ratio);
    else if (bottom > std::max(top, 0))
        drawLaneVector(*m_vector, std::max(top, 0), bottom, strip, under);
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
