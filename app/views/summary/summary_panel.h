#pragma once

#include "app/models/step_parts.h"
#include "app/models/trace_summary.h"
#include "app/session/selection.h"
#include "app/widgets/evidence_table.h"
#include "profiler/analysis/facts.h"

#include <QWidget>
#include <functional>
#include <memory>

class QLabel;
class QStackedWidget;

namespace app {

class DetailedAnalysisSummary;
class DeviceSummary;
class MemorySummary;
class PartsBar;
class StepTimesChart;

/// Where a steady step's time goes, how long steps take over the run, what the loader does, which operators cost most.
/// Every row leads to its place on the timeline.
class SummaryPanel : public QWidget {
    Q_OBJECT
public:
    explicit SummaryPanel(Selection* selection, QWidget* parent = nullptr);

    /// What is said while there are no facts: that they are on their way, or what brings them.
    /// @param whyNot  why there will be none; empty: nothing is wrong
    void setAnalysing(bool analysing, const QString& whyNot = {});
    /// The analysis of a trace; null facts: nothing known yet. All are kept.
    /// @param summary  what the devices did; null: nothing known of them
    void show(std::shared_ptr<const profiler::Trace> trace, std::shared_ptr<const profiler::analysis::Facts> facts,
              std::shared_ptr<const TraceSummary> summary = nullptr);

signals:
    void stepsByRepetitionWanted(bool on);     ///< steps are to be found, or no more
    void stepRangeWanted(const QString& name); ///< the ranges of this name are to be the steps

protected:
    void changeEvent(QEvent* event) override;

private:
    QWidget* makePage();
    QWidget* makeStepColumn(QWidget* parent);
    QWidget* makeCostColumn(QWidget* parent);
    void showChoice();
    void takeChoice(const QString& link);
    void showStatistics();
    void showRanks();
    void showParts();
    void showLoader();
    void showOps();
    void showDevices();
    void follow(const Evidence& evidence);
    void followStep(int step);

    Selection* m_selection;
    std::shared_ptr<const profiler::Trace> m_trace;
    std::shared_ptr<const profiler::analysis::Facts> m_facts;
    std::shared_ptr<const TraceSummary> m_summary;
    QStackedWidget* m_pages = nullptr;
    QLabel* m_empty = nullptr;
    QWidget* m_stepParts = nullptr; ///< what only a trace with steps has
    QLabel* m_chartHead = nullptr;
    DeviceSummary* m_devices = nullptr;
    MemorySummary* m_memory = nullptr;
    DetailedAnalysisSummary* m_look = nullptr;
    QLabel *m_headline = nullptr, *m_choice = nullptr, *m_statistics = nullptr, *m_loaderText = nullptr,
           *m_opsText = nullptr;
    PartsBar* m_bar = nullptr;
    StepTimesChart* m_chart = nullptr;
    EvidenceTable *m_ranks = nullptr, *m_parts = nullptr, *m_stages = nullptr, *m_ops = nullptr;
    std::vector<std::size_t> m_barParts; ///< kStepParts that the bar's parts stand for
};

} // namespace app
