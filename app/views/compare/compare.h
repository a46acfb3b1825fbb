#pragma once

#include "advisor/experiment/difference.h"
#include "app/look/visibility_watcher.h"
#include "app/services/background.h"
#include "profiler/model/trace.h"

#include <QString>
#include <QWidget>
#include <array>
#include <filesystem>
#include <memory>

class QComboBox;
class QLabel;
class QProgressBar;
class QStackedWidget;
class QToolButton;

namespace app {

class DistributionChart;
class EvidenceTable;
class RunStore;
class TraceDocument;
class TracePair;
class XyChart;
struct Comparison;
struct TraceLoss;

/// Compares the trace on screen with another one, from a kept run or any file: whether they can be compared, their step
/// times with the interval of the difference, and what changed.
class ComparePanel : public QWidget {
    Q_OBJECT
public:
    ComparePanel(TraceDocument* document, const RunStore* runs, TracePair* pair, QWidget* parent);

    /// Compares with this trace file, now and when another trace is on screen.
    /// @param name  display name
    void compareWith(const std::filesystem::path& file, const QString& name);

protected:
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeHeader();
    QWidget* makePage();
    void connectServices();
    void listRuns();
    void comeToFront();
    void choose(int entry);
    void chooseFile();
    void request();
    void start();
    void showState();
    void take(const Comparison& compared);
    void listCharts();
    void showChart();
    void showVerdict(const Comparison& compared);
    void colourVerdict();
    void fail(const profiler::Error& error);
    [[nodiscard]] QString settingsThatDiffer() const;

    TraceDocument* m_document;
    const RunStore* m_runs;
    TracePair* m_pair;
    Background m_work;
    VisibilityWatcher m_front{this};
    std::filesystem::path m_file; ///< of the other trace; empty: none chosen
    QString m_name;
    std::shared_ptr<const profiler::Trace> m_other; ///< trace of m_file, when it has been read
    bool m_dirty = false;                           ///< comparison pending until the panel is visible
    bool m_busy = false;
    advisor::Difference::Verdict m_shown = advisor::Difference::Verdict::NotShown;
    std::shared_ptr<const std::array<TraceLoss, 2>>
        m_losses; ///< of the other trace and of this one; null: not compared
    QComboBox *m_choice = nullptr, *m_chartChoice = nullptr;
    QProgressBar* m_progress = nullptr;
    QToolButton *m_cancel = nullptr, *m_beside = nullptr;
    QStackedWidget* m_pages = nullptr;
    QLabel *m_empty = nullptr, *m_verdict = nullptr, *m_why = nullptr;
    QStackedWidget* m_charts = nullptr;
    DistributionChart* m_chart = nullptr;
    XyChart* m_loss = nullptr;
    EvidenceTable* m_table = nullptr;
};

} // namespace app
