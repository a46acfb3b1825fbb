#pragma once

#include "app/look/theme.h"
#include "profiler/analysis/steps/steps.h"

#include <QByteArray>
#include <QList>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <QStringList>
#include <functional>
#include <span>
#include <vector>

class QAction;
class QHelpEvent;
class QWidget;

// What the charts have in common: the frame of a chart over steps, tooltips, and the export of images and values.
namespace app {

/// The frame of a chart over steps: durations upwards from 0, steps to the right. Pure geometry except for paint().
struct ChartFrame {
    QRectF plot;      ///< plot area
    double topUs = 1; ///< duration at the upper edge of the plot
    int steps = 0;

    [[nodiscard]] double yOf(double us) const { return plot.bottom() - plot.height() * us / topUs; }
    /// Left edge of the slot of a step; for `steps`, the right edge of the last slot.
    [[nodiscard]] double xOf(double step) const { return plot.left() + plot.width() * step / std::max(1, steps); }
    [[nodiscard]] int stepAt(double x) const; ///< clamped; −1 if there are no steps

    /// Indices of the steps whose numbers are shown below the plot: the first step at or after each round number, if
    /// there is space. Step numbers may have gaps.
    /// @param shown  as many as `steps`
    [[nodiscard]] std::vector<int> numbered(std::span<const profiler::analysis::Step> shown) const;
    /// Paints the grid lines, durations on the left and step numbers below.
    void paint(QPainter& painter, const TimelineTheme& theme, std::span<const profiler::analysis::Step> shown) const;
};

/// The label of a tick of an axis of durations: all ticks have the same unit and number of decimals.
QString tickLabel(double us, double stepUs, double topUs);

/// Shows a plain text at the pointer, wrapped if it is long; an empty one hides the tooltip.
void showTip(const QHelpEvent& event, const QString& tip, QWidget* chart);

/// A round duration for the upper edge of a chart with the largest value `us`.
double chartTop(double us);

/// The chart as SVG: what it paints, without the marks that follow the pointer.
QByteArray chartSvg(QWidget& chart);

/// Gives a chart the actions "Copy image", "Copy values" and "Save chart…" (PNG, SVG or CSV), and shows them as its
/// context menu unless it has one of its own.
/// @param stem  suggested name of a file without extension
/// @param csv   the values that the chart shows, exactly, with a heading
QList<QAction*> addChartExport(QWidget* chart, const QString& stem, std::function<QString()> csv);

/// Lines of CSV from cells, in the format of profiler::formats::writers::appendCsvRow().
QString csvLine(const QStringList& cells);

} // namespace app
