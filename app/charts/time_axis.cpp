#include "app/charts/time_axis.h"

#include "app/look/display_text.h"

#include <algorithm>
#include <cmath>

namespace app {

using profiler::TimeRange;
using profiler::toNs;
using profiler::traceTime;
using profiler::TraceTime;

void TimeAxis::setBounds(TimeRange bounds)
{
    const bool first = m_bounds.empty() && !bounds.empty();
    m_bounds = bounds;
    if (first)
        fit();
    clampScale();
    clampPlace();
}

void TimeAxis::setLimits(TimeRange limits)
{
    m_limits = limits;
    clampScale();
    clampPlace();
}

void TimeAxis::setWidth(double pixels)
{
    const double span = m_nsPerPixel * m_width;
    m_width = std::max(1.0, pixels);
    m_nsPerPixel = span / m_width;
    clampScale();
    clampPlace();
}

TimeRange TimeAxis::visible() const
{
    const double end = m_fraction + m_nsPerPixel * m_width;
    return {traceTime(m_beginNs), traceTime(m_beginNs + static_cast<std::int64_t>(std::ceil(end)))};
}

double TimeAxis::xOf(TraceTime time) const
{
    return (static_cast<double>(toNs(time) - m_beginNs) - m_fraction) / m_nsPerPixel;
}

TraceTime TimeAxis::timeAt(double x) const
{
    return traceTime(m_beginNs + static_cast<std::int64_t>(std::floor(m_fraction + x * m_nsPerPixel)));
}

void TimeAxis::show(TimeRange range, double share)
{
    const double span = std::max(1.0, static_cast<double>(range.duration().count()));
    m_nsPerPixel = span / (m_width * share);
    clampScale();
    setBegin(toNs(range.begin), (span - m_nsPerPixel * m_width) / 2);
    clampPlace();
}

void TimeAxis::zoomAt(double x, double factor)
{
    if (!(factor > 0))
        return;
    const double anchor = m_fraction + x * m_nsPerPixel; // ns from m_beginNs
    m_nsPerPixel /= factor;
    clampScale();
    setBegin(m_beginNs, anchor - x * m_nsPerPixel);
    clampPlace();
}

void TimeAxis::panBy(double pixels)
{
    setBegin(m_beginNs, m_fraction + pixels * m_nsPerPixel);
    clampPlace();
}

void TimeAxis::place(TraceTime time, double x)
{
    setBegin(toNs(time), -x * m_nsPerPixel);
    clampPlace();
}

void TimeAxis::setBegin(std::int64_t base, double offsetNs)
{
    const double whole = std::floor(offsetNs);
    m_beginNs = base + static_cast<std::int64_t>(whole);
    m_fraction = offsetNs - whole;
    if (m_fraction >= 1) { // offsetNs was a very small negative number
        m_fraction = 0;
        ++m_beginNs;
    }
}

void TimeAxis::clampScale()
{
    const auto span = static_cast<double>(limits().duration().count());
    const double furthest = std::max(span / (m_width * kFitShare), kMinNsPerPixel);
    m_nsPerPixel =
        m_bounds.empty() ? std::max(m_nsPerPixel, kMinNsPerPixel) : std::clamp(m_nsPerPixel, kMinNsPerPixel, furthest);
}

/// The centre of the view stays inside the limits; a trace that fits stays completely visible because of the scale
/// limit.
void TimeAxis::clampPlace()
{
    if (m_bounds.empty())
        return;
    const double middle = m_fraction + m_nsPerPixel * m_width / 2;
    const auto toBegin = static_cast<double>(toNs(limits().begin) - m_beginNs);
    const auto toEnd = static_cast<double>(toNs(limits().end) - m_beginNs);
    if (middle < toBegin)
        setBegin(toNs(limits().begin), -m_nsPerPixel * m_width / 2);
    else if (middle > toEnd)
        setBegin(toNs(limits().end), -m_nsPerPixel * m_width / 2);
}

std::int64_t niceStep(double value)
{
    std::int64_t power = 1;
    for (;;) {
        for (const std::int64_t digit : {1, 2, 5})
            if (static_cast<double>(digit * power) >= value)
                return digit * power;
        if (power >= 1'000'000'000'000'000'000)
            return power;
        power *= 10;
    }
}

namespace {

constexpr double kWidestDigit = 7; ///< average width of a label character in logical pixels
constexpr double kLabelGap = 16;   ///< minimum space between two labels

/// Number of decimals of a second that distinguish multiples of `step`; multiples of three from the fourth on.
int decimalsFor(std::int64_t step)
{
    int decimals = 0;
    for (std::int64_t part = 1'000'000'000; part > 1 && step % part != 0; part /= 10)
        ++decimals;
    return decimals <= 3 ? decimals : (decimals + 2) / 3 * 3;
}

std::int64_t floorTo(std::int64_t value, std::int64_t step)
{
    const std::int64_t rest = value % step;
    return value - (rest < 0 ? rest + step : rest);
}

} // namespace

std::vector<AxisTick> axisTicks(const TimeAxis& axis, double minSpacing)
{
    const std::int64_t origin = toNs(axis.bounds().begin);
    const TimeRange visible = axis.visible();
    const std::int64_t end = toNs(visible.end) - origin;
    const auto label = [](std::int64_t at, std::int64_t step) {
        return formatPosition(profiler::Nanoseconds{at}, decimalsFor(step));
    };
    std::int64_t step = niceStep(std::max(1.0, minSpacing * axis.nsPerPixel()));
    const std::int64_t longest = std::max(end, std::abs(toNs(visible.begin) - origin));
    const double needed = static_cast<double>(label(longest, step).size()) * kWidestDigit + kLabelGap;
    step = std::max(step, niceStep(needed * axis.nsPerPixel()));
    std::vector<AxisTick> ticks;
    for (std::int64_t at = floorTo(toNs(visible.begin) - origin, step); at <= end; at += step)
        ticks.push_back({traceTime(origin + at), label(at, step)});
    return ticks;
}

std::vector<double> valueTicks(double top, int count)
{
    if (!(top > 0))
        return {0};
    count = std::max(count, 2); // a single tick at 0 would not say what the axis measures
    const double power = std::pow(10, std::floor(std::log10(top / count)));
    double step = 10 * power;
    for (const double digit : {5.0, 2.0, 1.0})
        if (std::floor(top / (digit * power)) <= count)
            step = digit * power;
    std::vector<double> ticks;
    for (int i = 0; i * step <= top * 1.000001; ++i)
        ticks.push_back(i * step);
    return ticks;
}

} // namespace app
