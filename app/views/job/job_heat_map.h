#pragma once

#include "profiler/analysis/job/job_analysis.h"
#include "profiler/job/open_job.h"

#include <QImage>
#include <QString>
#include <QWidget>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

/// The figures of a job by rank and step, and their heat map.
namespace app {

/// A figure of a rank in a step.
enum class JobFigure : std::uint8_t {
    StepTime,
    Waiting,  ///< for other ranks in collectives
    Busy,     ///< share of the step in which the rank computes or copies
    Lateness, ///< arrival at collectives after the median of the other ranks; not below 0
};
inline constexpr std::array<JobFigure, 4> kJobFigures = {JobFigure::Lateness, JobFigure::StepTime, JobFigure::Waiting,
                                                         JobFigure::Busy};

/// "Step time".
QString figureTitle(JobFigure figure);
/// "25.1 ms" or "83.4 %"; "not recorded" for NaN.
QString figureText(JobFigure figure, double value);

/// The figures of the analysed steps of a job. Immutable.
class JobFigures {
public:
    explicit JobFigures(std::shared_ptr<const profiler::job::Job> job);

    [[nodiscard]] const profiler::job::Job& job() const { return *m_job; }
    [[nodiscard]] std::size_t ranks() const { return m_job->ranks.size(); }
    [[nodiscard]] std::size_t steps() const { return m_steps.count(); }
    /// Times in µs, shares in [0, 1]; NaN if the rank did not record the step.
    [[nodiscard]] double value(JobFigure figure, std::size_t rank, std::size_t step) const;

    /// Ends of a colour scale.
    struct Scale {
        double low = 0, high = 1;
    };
    /// Covers all values. The scale of times spans at least a twentieth of the step, so that jitter looks like jitter.
    [[nodiscard]] Scale scale(JobFigure figure) const;

private:
    std::shared_ptr<const profiler::job::Job> m_job;
    profiler::analysis::JobSteps m_steps;
};

/// A figure of all ranks of a job, one per row, in all analysed steps, one per column, as colours. If there are more
/// ranks or steps than pixels, a cell shows the largest value of several. A click selects a rank and a step; a double
/// click or Return opens them; the arrow keys, Page Up and Page Down, Home and End move.
class JobHeatMap : public QWidget {
    Q_OBJECT
public:
    struct Cell {
        std::size_t rank = 0, step = 0; ///< indices into Job::ranks and JobAnalysis::steps
        friend bool operator==(const Cell&, const Cell&) = default;
    };

    explicit JobHeatMap(QWidget* parent);

    /// @param figures  null: empty
    void setFigures(std::shared_ptr<const JobFigures> figures);
    void setFigure(JobFigure figure);
    [[nodiscard]] JobFigure figure() const { return m_figure; }
    /// Marks the selected rank and step.
    void setCurrent(std::optional<Cell> cell);
    [[nodiscard]] std::optional<Cell> current() const { return m_current; }

    /// The rank and the step at a point; of several that share a cell, those with the largest value.
    [[nodiscard]] std::optional<Cell> cellAt(QPointF point) const;
    /// The rectangle of the cell that shows a rank and a step.
    [[nodiscard]] QRect rectOf(Cell cell) const;
    [[nodiscard]] QColor colorOf(Cell cell) const;
    /// The figures of a rank in a step, as in the tooltip.
    [[nodiscard]] QString describe(Cell cell) const;

    [[nodiscard]] QSize sizeHint() const override { return {560, 260}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {160, 70}; }

signals:
    void chosen(std::size_t rank, std::size_t step);
    void opened(std::size_t rank, std::size_t step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    /// A cell on screen.
    struct Peak {
        double value = 0; ///< NaN: not recorded
        Cell at;
    };

    [[nodiscard]] bool isEmpty() const { return !m_figures || m_figures->ranks() == 0 || m_figures->steps() == 0; }
    [[nodiscard]] QString rankText(std::size_t rank) const;
    [[nodiscard]] QRect cellRect(int row, int column) const;
    [[nodiscard]] int rowOf(std::size_t rank) const;
    [[nodiscard]] int columnOf(std::size_t step) const;
    [[nodiscard]] const Peak& peak(int row, int column) const;
    [[nodiscard]] double shareOf(double value) const;
    void relayout();
    void findPeaks();
    void paintCells();
    void paintGrid(QPainter& painter) const;
    void paintValues(QPainter& painter) const;
    void paintRanks(QPainter& painter) const;
    void paintSteps(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;
    void paintCurrent(QPainter& painter) const;
    void moveBy(std::ptrdiff_t ranks, std::ptrdiff_t steps);
    [[nodiscard]] QString csv() const;

    std::shared_ptr<const JobFigures> m_figures; ///< null: empty
    JobFigure m_figure = JobFigure::Lateness;
    std::optional<Cell> m_current;
    JobFigures::Scale m_scale;
    QRect m_plot;
    int m_rows = 0, m_columns = 0; ///< of cells on screen
    std::vector<Peak> m_peaks;     ///< row by row
    bool m_hasUnrecorded = false;
    QImage m_image; ///< the cells, a pixel for each of m_plot
};

} // namespace app
