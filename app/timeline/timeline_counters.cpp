#include "app/timeline/timeline_painter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace app {

using profiler::CounterSample;

namespace {

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

} // namespace app
