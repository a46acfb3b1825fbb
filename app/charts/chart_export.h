#pragma once

#include <QByteArray>
#include <QList>
#include <QString>
#include <QStringList>
#include <functional>

class QAction;
class QWidget;

namespace app {

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
