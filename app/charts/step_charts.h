#pragma once

#include "app/charts/chart.h"
#include "app/document/step_parts.h"
#include "profiler/analysis/steps/steps.h"

#include <QWidget>
#include <array>
#include <memory>
#include <optional>
#include <vector>

// Charts of the steps of a run: where the time of each went, and their times in order.
namespace app {

/// One stacked bar per step that shows where its time went. If there are more steps than pixels, a bar is the mean of
/// several steps. A click or the arrow keys select a step. Bars far above the steady ones (warm-up) are cut and
/// labelled, and steps that stand out (analysis::slowSteps) have a mark above their bar.
class StepBars : public QWidget {
    Q_OBJECT
public:
    explicit StepBars(QWidget* parent = nullptr);

    void setSteps(std::vector<profiler::analysis::Step> steps);
    [[nodiscard]] const std::vector<profiler::analysis::Step>& steps() const { return m_steps; }
    /// Highlights a step by its index in steps(); otherwise none.
    void setChosen(std::optional<int> step);
    [[nodiscard]] std::optional<int> chosen() const { return m_chosen; }
    /// Steps per bar; 1 unless there are more steps than pixels.
    [[nodiscard]] int stepsPerBar() const { return m_perBar; }
    [[nodiscard]] const ChartFrame& frame() const { return m_frame; }

    [[nodiscard]] QSize sizeHint() const override { return {600, 150}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {240, 90}; }

signals:
    void stepChosen(int step);
    /// A context menu is wanted for a step, by mouse or keyboard.
    void menuWanted(int step, QPoint global);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

    /// Width at the right end of the first line that text leaves free.
    void setCornerWidth(int width);
    /// The parts of all steps as CSV, in ns.
    [[nodiscard]] QString csv() const;

private:
    struct Bar {
        std::array<double, kStepParts.size()> us{}; ///< mean of its steps
        double total = 0;
        bool isSlow = false; ///< one of its steps stands out
    };
    void layOut();
    void choose(int step);
    [[nodiscard]] QString describe(int step) const;
    void paintBars(QPainter& painter, const TimelineTheme& theme) const;
    void paintLegend(QPainter& painter, const TimelineTheme& theme) const;

    std::vector<profiler::analysis::Step> m_steps;
    std::vector<Bar> m_bars;
    ChartFrame m_frame;
    QString m_statistics;     ///< summary of all steps, one line
    std::vector<bool> m_slow; ///< by step: it stands out
    int m_cornerWidth = 0;
    int m_perBar = 1;
    std::optional<int> m_chosen, m_hovered;
};

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
