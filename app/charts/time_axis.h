#pragma once

#include "profiler/model/clock.h"

#include <QString>
#include <vector>

namespace app {

/// Conversion between trace time and pixels: which part of a trace is visible at which scale. A value type without a
/// widget. Time is int64 ns plus a fraction, so that panning by a pixel is exact at every scale.
class TimeAxis {
public:
    /// Maximum zoom: fifty pixels per nanosecond.
    static constexpr double kMinNsPerPixel = 0.02;
    /// Minimum zoom: the trace fills this share of the width.
    static constexpr double kFitShare = 0.96;

    /// Sets the range of the whole trace. The visible range stays, clamped; the first non-empty bounds are fitted.
    void setBounds(profiler::TimeRange bounds);
    /// Sets the range within which the view may move; empty: the whole trace. For a trace that shares its axis with
    /// another, which may be longer.
    void setLimits(profiler::TimeRange limits);
    /// Sets the width in pixels, at least one. The visible range stays.
    void setWidth(double pixels);

    [[nodiscard]] profiler::TimeRange bounds() const { return m_bounds; }
    [[nodiscard]] double width() const { return m_width; }
    [[nodiscard]] double nsPerPixel() const { return m_nsPerPixel; }
    /// The visible range, rounded outwards to whole ns.
    [[nodiscard]] profiler::TimeRange visible() const;

    /// Pixel of a time, unclamped; 0 is the left edge.
    [[nodiscard]] double xOf(profiler::TraceTime time) const;
    /// The nanosecond that contains a pixel (floor).
    [[nodiscard]] profiler::TraceTime timeAt(double x) const;

    /// Shows `range` over `share` of the width, centred.
    void show(profiler::TimeRange range, double share = kFitShare);
    /// Shows the whole trace.
    void fit() { show(m_bounds); }
    /// Scales by `factor` (2: half as much time is visible); the time at pixel `x` stays there.
    void zoomAt(double x, double factor);
    /// Moves the content by `pixels` to the left, so that later times become visible.
    void panBy(double pixels);
    /// Keeps the scale; puts `time` at pixel `x`.
    void place(profiler::TraceTime time, double x);

    friend bool operator==(const TimeAxis&, const TimeAxis&) = default;

private:
    void setBegin(std::int64_t base, double offsetNs);
    void clampScale();
    void clampPlace();
    [[nodiscard]] profiler::TimeRange limits() const { return m_limits.empty() ? m_bounds : m_limits; }

    profiler::TimeRange m_bounds;
    profiler::TimeRange m_limits; ///< empty: m_bounds
    double m_width = 1;
    std::int64_t m_beginNs = 0; ///< whole ns at the left edge
    double m_fraction = 0;      ///< fraction of a ns, in [0, 1)
    double m_nsPerPixel = 1;
};

/// A grid line and its label: its position, with as many digits as the distance between lines needs.
struct AxisTick {
    profiler::TraceTime time{};
    QString label;
};

/// Smallest 1, 2 or 5 × 10^k that is at least `value` (≥ 1).
std::int64_t niceStep(double value);

/// Ticks of the visible range in 1-2-5 steps, at least `minSpacing` pixels apart and far enough for their labels.
/// Labels are distinct positions from the start of the trace: "12.345 678 901 s" if a step is a few nanoseconds.
std::vector<AxisTick> axisTicks(const TimeAxis& axis, double minSpacing = 90);

/// Ticks of a value axis from 0 to `top`: at most `count` steps of 1, 2 or 5 × 10^k.
std::vector<double> valueTicks(double top, int count);

} // namespace app
