#pragma once

#include "app/look/kind_palette.h"

#include <QRectF>
#include <QString>
#include <QWidget>
#include <functional>
#include <vector>

namespace app {

/// One or more series of values over a common quantity, with axes from 0, a legend, bands or error bars, and the value
/// under the pointer as a tooltip. Copied and saved like all charts, see addChartExport().
class XyChart : public QWidget {
    Q_OBJECT
public:
    struct Axis {
        QString title; ///< with the unit of values in files: "Training time (s)"
        QString unit;  ///< at the end of the axis: "samples/s"; empty if the ticks contain it
        /// @param step  distance of two ticks
        std::function<QString(double value, double step)> text;
        bool ticksAtValues = false; ///< few round settings: a tick at each value that occurs, instead of round numbers
    };
    struct Point {
        double x = 0, y = 0;
        double low = 0, high = 0; ///< interval of y; equal to y: none
        QString note{};           ///< for the tooltip
    };
    enum class Shape { Line, Dots };
    struct Series {
        QString name;
        Shape shape = Shape::Line;
        SliceClass color = SliceClass::Other; ///< its fill
        Qt::PenStyle pen = Qt::SolidLine;     ///< of a line: colour is never the only cue
        bool hollow = false;                  ///< of dots
        std::vector<Point> points{};          ///< by x
    };
    struct Content {
        Axis x, y;
        std::vector<Series> series;
        QString empty; ///< what to do to get values; shown when there are none
    };

    /// @param stem  suggested name of a file
    XyChart(const QString& stem, QWidget* parent);

    void show(Content content);
    [[nodiscard]] const Content& content() const { return m_content; }
    /// The series, position and value of the point nearest to a place; empty if none is near.
    [[nodiscard]] QString tipAt(QPointF at) const;
    [[nodiscard]] QPointF placeOf(double x, double y) const; ///< in the widget
    [[nodiscard]] QSize sizeHint() const override { return {360, 170}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {180, 90}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Ticks {
        std::vector<double> x, y;
        double xStep = 1, yStep = 1;
    };
    [[nodiscard]] bool isEmpty() const;
    [[nodiscard]] Ticks ticks() const;
    void layOut();
    void paintAxes(class QPainter& painter) const;
    void paintLegend(QPainter& painter) const;
    void paintSeries(QPainter& painter, const Series& series) const;
    [[nodiscard]] QString csv() const;

    Content m_content;
    double m_xTop = 1, m_yTop = 1; ///< ends of the axes
    QRectF m_plot;
};

/// Texts of ticks, for Axis::text.
namespace tick {
QString count(double value, double step);   ///< "1,024"
QString seconds(double value, double step); ///< "1.5 s", "20 ms"
QString bytes(double value, double step);   ///< "2 GB"
QString number(double value, double step);  ///< "0.25"
} // namespace tick

} // namespace app
