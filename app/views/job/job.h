#pragma once

#include "app/views/job/job_heat_map.h"
#include "profiler/analysis/job/matched_collectives.h"

#include <QWidget>
#include <array>
#include <memory>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QSplitter;
class QStackedWidget;
class QTabBar;

namespace app {

class EvidenceTable;
class JobDocument;

/// The open job: its figures, a heat map of its ranks and steps, the ranks that delay the others with the cause, all
/// ranks, who waited for whom in the selected step, and what communication costs. All parts show the same rank and
/// step; a double click or Return opens the trace of the rank.
class JobPanel : public QWidget {
    Q_OBJECT
public:
    enum Page { Stragglers, Ranks, Waits, Communication };

    JobPanel(JobDocument* job, QWidget* parent);

    [[nodiscard]] JobHeatMap* heatMap() const { return m_map; }
    [[nodiscard]] EvidenceTable* table(Page page) const { return m_tables[page]; }
    void setPage(Page page);

    [[nodiscard]] QSize minimumSizeHint() const override { return {340, 100}; }

private:
    QWidget* makePage();
    QWidget* makeHeader();
    QWidget* makeTables();
    QWidget* makeTablePage(Page page, QWidget* parent);
    void showJob();
    void showLoading(const QString& what, double share);
    void showSelection();
    void showWaits();
    void takeRow(Page page, int row);
    [[nodiscard]] QString summaryText() const;
    [[nodiscard]] QString notesText() const;

    JobDocument* m_job;
    std::shared_ptr<const JobFigures> m_figures;       ///< null: no job
    std::vector<profiler::analysis::StepWait> m_waits; ///< of m_waitsOf
    std::optional<std::size_t> m_waitsOf;              ///< the step whose waits are shown
    bool m_showing = false;                            ///< rows are marked that the user did not choose
    QStackedWidget* m_pages = nullptr;                 ///< m_empty, or everything else
    QLabel *m_empty = nullptr, *m_summary = nullptr, *m_notes = nullptr, *m_cell = nullptr, *m_evidence = nullptr;
    QComboBox *m_figure = nullptr, *m_timeline = nullptr;
    QSplitter* m_sides = nullptr;
    JobHeatMap* m_map = nullptr;
    QTabBar* m_tabs = nullptr;
    QStackedWidget* m_parts = nullptr;             ///< by Page
    std::array<EvidenceTable*, 4> m_tables{};      ///< by Page; of Communication: the groups
    std::array<QStackedWidget*, 4> m_tablePages{}; ///< by Page: the table, or why it is empty
    std::array<QLabel*, 4> m_whyEmpty{};
    EvidenceTable* m_collectives = nullptr;
};

} // namespace app
