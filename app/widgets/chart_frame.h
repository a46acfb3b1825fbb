#pragma once

#include "app/widgets/timeline_theme.h"
#include "profiler/analysis/steps.h"

#include <QPainter>
#include <QRectF>
#include <QString>
#include <span>
#include <vector>

namespace app {

/// The frame of a chart over steps: durations upwards from 0, steps to the right. Pure maths but for paint().
struct ChartFrame {
    QRectF plot;      ///< where values are drawn
    double topUs = 1; ///< duration at the plot's upper edge
    int steps = 0;

    [[nodiscard]] double yOf(double us) const { return plot.bottom() - plot.height() * us / topUs; }
    /// Left edge of a step's slot; `steps` gives the right edge of the last.
    [[nodiscard]] double xOf(double step) const { return plot.left() + plot.width() * step / std::max(1, steps); }
    [[nodiscard]] int stepAt(double x) const; ///< clamped; −1 without steps

    /// The steps whose numbers stand below the plot, by place: the first at or after each round number, as far as there
    /// is room. Numbers may leave some out. @param shown  as many as `steps`
    [[nodiscard]] std::vector<int> numbered(std::span<const profiler::analysis::Step> shown) const;
    /// Lines, durations at the left, steps' numbers below.
    void paint(QPainter& painter, const TimelineTheme& theme, std::span<const profiler::analysis::Step> shown) const;
};

/// A round duration for the upper edge of a chart whose largest value is `us`.
double chartTop(double us);

} // namespace app
