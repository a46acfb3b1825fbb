#pragma once

#include "app/charts/chart_frame.h"
#include "profiler/analysis/steps/steps.h"

#include <QWidget>
#include <optional>
#include <vector>

namespace app {

/// Step times over the run, with the median of the steady steps; warm-up steps are hollow. Steps that share a pixel
/// become a vertical line from the minimum to the maximum. A click selects the nearest step.
class StepTimesChart : public QWidget {
    Q_OBJECT
public:
    explicit StepTimesChart(QWidget* parent = nullptr);

    void setSteps(std::vector<profiler::analysis::Step> steps, double medianUs);
    [[nodiscard]] const ChartFrame& frame() const { return m_frame; }
    [[nodiscard]] QSize sizeHint() const override { return {420, 170}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 120}; }

signals:
    void stepChosen(int step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    void layOut();
    [[nodiscard]] double usOf(int step) const;
    [[nodiscard]] QString csv() const;

    std::vector<profiler::analysis::Step> m_steps;
    double m_medianUs = 0;
    ChartFrame m_frame;
};

} // namespace app
