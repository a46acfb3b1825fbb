#pragma once

#include <QWidget>
#include <array>
#include <vector>

namespace app {

/// Step times of two runs on one axis: one histogram each, with the median marked.
class DistributionChart : public QWidget {
    Q_OBJECT
public:
    explicit DistributionChart(QWidget* parent);

    struct Sample {
        QString name;
        std::vector<double> us; ///< any order
    };
    /// @param upper, lower  the two rows
    void show(Sample upper, Sample lower);
    [[nodiscard]] QSize sizeHint() const override { return {360, 170}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {160, 110}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Row {
        Sample sample;
        double medianUs = 0;
    };
    void paintRow(class QPainter& painter, const Row& row, const QRectF& bars, const QColor& color) const;
    void paintAxis(QPainter& painter, const QRectF& area) const;
    [[nodiscard]] double xOf(double us, const QRectF& area) const;
    [[nodiscard]] QRectF plot() const;
    [[nodiscard]] QRectF barsOf(std::size_t row) const;
    [[nodiscard]] QString tipAt(QPointF at) const;
    [[nodiscard]] QString csv() const;

    std::array<Row, 2> m_rows;
    double m_leastUs = 0, m_mostUs = 1; ///< of the axis
};

/// Number of values of `us` in each of `bins` equal parts of [least, most]; values outside count in the first or last
/// bin.
std::vector<int> histogram(const std::vector<double>& us, double least, double most, int bins);

} // namespace app
