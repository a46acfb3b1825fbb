#include "app/widgets/timeline_painter.h"

#include <algorithm>
#include <cmath>

namespace app {

using profiler::CounterSample;

namespace {

constexpr int kMargin = 4;     ///< logical pixels above and below the curve
constexpr int kAreaShare = 51; ///< 256ths of the curve's colour under it

/// What a column of pixels shows of a counter: its values' extent, as y.
struct Column {
    int top = -1, bottom = -1; ///< of the line; −1: nothing known yet
};

/// A value holds until the next sample. Samples of one column become one upright line, and a jump joins its two values.
std::vector<Column> columnsOf(const CounterSeries& series, const TimeAxis& axis, double ratio, int width, int top,
                              int bottom)
{
    const auto& samples = series.samples();
    const auto later = [](profiler::TraceTime time, const CounterSample& s) { return time < s.time; };
    const double least = series.extent().least, span = series.extent().most - least;
    const auto yOf = [&](double value) {
        return static_cast<int>(std::lround(bottom - (span > 0 ? (value - least) / span : 0.5) * (bottom - top)));
    };
    std::vector<Column> columns(static_cast<std::size_t>(width));
    auto at = std::upper_bound(samples.begin(), samples.end(), axis.timeAt(0), later);
    const auto end = axis.bounds().end;
    for (int x = 0; x < width && axis.timeAt(x / ratio) < end; ++x) {
        const auto next = std::upper_bound(at, samples.end(), axis.timeAt((x + 1) / ratio), later);
        Column& column = columns[static_cast<std::size_t>(x)];
        if (at != samples.begin()) // the value that held until here
            column.top = column.bottom = yOf((at - 1)->value);
        if (at != next) {
            const auto extent = series.extent(static_cast<std::size_t>(at - samples.begin()),
                                              static_cast<std::size_t>(next - samples.begin()));
            column.bottom = std::max(column.bottom, yOf(extent.least));
            column.top = column.top < 0 ? yOf(extent.most) : std::min(column.top, yOf(extent.most));
        }
        at = next;
    }
    return columns;
}

} // namespace

void drawCounter(QPainter& painter, const CounterSeries& series, const TimeAxis& axis, int top, int bottom,
                 const QColor& color)
{
    if (series.samples().empty())
        return;
    const int floor = bottom - kMargin;
    const auto columns = columnsOf(series, axis, 1, static_cast<int>(axis.width()), top + kMargin, floor - 1);
    QColor area = color;
    area.setAlpha(kAreaShare);
    // A run of columns with the same extent is one rectangle.
    for (std::size_t x = 0; x < columns.size();) {
        std::size_t end = x + 1;
        while (end < columns.size() && columns[end].top == columns[x].top && columns[end].bottom == columns[x].bottom)
            ++end;
        const int left = static_cast<int>(x), width = static_cast<int>(end - x);
        if (const Column& column = columns[x]; column.top >= 0) {
            painter.fillRect(QRect(left, column.top, width, floor - column.top), area);
            painter.fillRect(QRect(left, column.top, width, column.bottom + 1 - column.top), color);
        }
        x = end;
    }
}

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
    // What lies under it is the same in every row of the lane.
    std::vector<QRgb> tinted(static_cast<std::size_t>(width));
    const int first = std::max(0, top);
    if (first < end)
        std::transform(reinterpret_cast<const QRgb*>(image.constScanLine(first)),
                       reinterpret_cast<const QRgb*>(image.constScanLine(first)) + width, tinted.begin(), tint);
    for (int y = first; y < end; ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < width; ++x) {
            const Column& column = columns[static_cast<std::size_t>(x)];
            if (column.top >= 0 && y >= column.top)
                line[x] = y < column.bottom + thickness ? ink : tinted[static_cast<std::size_t>(x)];
        }
    }
}

} // namespace app
