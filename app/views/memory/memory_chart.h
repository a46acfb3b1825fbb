#pragma once

#include "app/charts/time_axis.h"
#include "app/views/memory/memory_look.h"

#include <QPixmap>
#include <QWidget>
#include <memory>
#include <optional>

namespace app {

/// The memory of a device over time as a stacked area, by category, with a legend, axes with units, and a mark at a
/// moment. A click or Return chooses a time; the arrow keys move between samples.
class MemoryChart : public QWidget {
    Q_OBJECT
public:
    explicit MemoryChart(QWidget* parent = nullptr);

    /// @param memory  null: empty
    /// @param range   of the trace: positions are relative to its start
    void setMemory(std::shared_ptr<const profiler::analysis::DeviceMemory> memory, profiler::TimeRange range);
    /// Marks a moment, such as the peak.
    void setMark(std::optional<profiler::TraceTime> time, const QString& label);

    /// Paints the chart without the cursor, for copies and files.
    void render(QPainter& painter, QSize size);
    /// A line for each sample: the position in seconds and the bytes of each category.
    [[nodiscard]] QString csv() const;

    /// The part of the widget with the areas.
    [[nodiscard]] QRectF plot() const { return layOut(size()).plot; }
    /// The sample that is shown at a pixel column, by index; empty outside of the samples.
    [[nodiscard]] std::optional<std::size_t> sampleAt(double x) const;
    /// The text of the tooltip for a sample.
    [[nodiscard]] QString describe(std::size_t sample) const;

    [[nodiscard]] QSize sizeHint() const override { return {600, 180}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {200, 90}; }

signals:
    void timeChosen(profiler::TraceTime time);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct LegendEntry {
        MemoryCategory category;
        QPointF at; ///< top left corner of its swatch
    };
    struct Layout {
        QRectF plot;
        std::vector<LegendEntry> legend;
        TimeAxis axis; ///< of the plot
    };
    [[nodiscard]] Layout layOut(QSize size) const;
    [[nodiscard]] double yOf(const QRectF& plot, double bytes) const;
    void paintAll(QPainter& painter, QSize size) const;
    void paintAxes(QPainter& painter, const Layout& layout) const;
    void paintAreas(QPainter& painter, const Layout& layout) const;
    void paintMark(QPainter& painter, const Layout& layout) const;
    void moveCursor(std::optional<std::size_t> sample);

    std::shared_ptr<const profiler::analysis::DeviceMemory> m_memory;
    profiler::TimeRange m_range;
    double m_top = 1; ///< bytes at the upper edge of the plot
    std::vector<MemoryCategory> m_used;
    std::optional<profiler::TraceTime> m_mark;
    QString m_markLabel;
    std::optional<std::size_t> m_cursor;
    QPixmap m_painted; ///< everything except the cursor
};

} // namespace app
