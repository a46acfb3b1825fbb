#pragma once

#include "app/document/selection.h"
#include "app/document/step_parts.h"
#include "app/document/trace_summary.h"
#include "app/tables/evidence_table.h"
#include "profiler/analysis/facts.h"

#include <QWidget>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

class QComboBox;
class QLabel;
class QStackedWidget;

namespace app {

class DetailedAnalysisSummary;
class DeviceSummary;
class MemorySummary;
class PartsBar;
class StepTimesChart;

/// Where the time of a steady step goes, step times over the run, the data loader, and the top operators. Every row
/// links to the timeline.
class SummaryPanel : public QWidget {
    Q_OBJECT
public:
    explicit SummaryPanel(Selection* selection, QWidget* parent = nullptr);

    /// The text while there is no analysis: that it is running, or what to do.
    /// @param whyNot  why there will be none; empty: no error
    void setAnalysing(bool analysing, const QString& whyNot = {});
    /// Sets the analysis of a trace; null: not available yet. All pointers are kept.
    /// @param summary  overview of the devices; null: not available
    void show(std::shared_ptr<const profiler::Trace> trace, std::shared_ptr<const profiler::analysis::Facts> facts,
              std::shared_ptr<const TraceSummary> summary = nullptr);

signals:
    void stepsByRepetitionWanted(bool on);               ///< steps must be inferred, or no longer
    void stepRangeWanted(const QString& name);           ///< ranges of this name must be used as steps
    void rankWanted(std::optional<std::int64_t> number); ///< this rank must be analysed; empty: the slowest

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
    QWidget* m_stepParts = nullptr; ///< widgets that need steps
    QLabel* m_chartHead = nullptr;
    DeviceSummary* m_devices = nullptr;
    MemorySummary* m_memory = nullptr;
    DetailedAnalysisSummary* m_look = nullptr;
    QLabel *m_headline = nullptr, *m_choice = nullptr, *m_statistics = nullptr, *m_loaderText = nullptr,
           *m_opsText = nullptr;
    PartsBar* m_bar = nullptr;
    StepTimesChart* m_chart = nullptr;
    QWidget* m_rankRow = nullptr;
    QComboBox* m_rankChoice = nullptr; ///< its data: the rank's number; invalid: the slowest
    EvidenceTable *m_ranks = nullptr, *m_parts = nullptr, *m_stages = nullptr, *m_ops = nullptr;
    std::vector<std::size_t> m_barParts; ///< indices of kStepParts for the parts of the bar
};

} // namespace app
