#pragma once

#include "app/widgets/timeline_theme.h"

#include <QPainter>
#include <QRectF>
#include <QString>

namespace app {

/// The frame of a chart over steps: durations upwards from 0, steps to the right. Pure maths but for paint().
struct ChartFrame {
    QRectF plot;      ///< where values are drawn
    double topUs = 1; ///< duration at the plot's upper edge
    int steps = 0;
    std::int64_t firstIndex = 0; ///< number of the first step

    [[nodiscard]] double yOf(double us) const { return plot.bottom() - plot.height() * us / topUs; }
    /// Left edge of a step's slot; `steps` gives the right edge of the last.
    [[nodiscard]] double xOf(double step) const { return plot.left() + plot.width() * step / std::max(1, steps); }
    [[nodiscard]] int stepAt(double x) const; ///< clamped; −1 without steps

    /// Lines, durations at the left, steps' numbers below.
    void paint(QPainter& painter, const TimelineTheme& theme) const;
};

/// A round duration for the upper edge of a chart whose largest value is `us`.
double chartTop(double us);

} // namespace app
