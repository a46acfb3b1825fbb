#pragma once

#include "advisor/tuner/tuner.h"
#include "app/look/visibility_watcher.h"

#include <QTimer>
#include <QWidget>
#include <cstddef>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QStackedWidget;

namespace app {

class ConfigurationModel;
class EvidenceTable;
class JobGuard;
class JournalStore;
class ReportSaver;
class RunStore;
class TraceDocument;
class TuneResultBar;
class TuningService;
class XyChart;

/// Tunes the configuration with one button: current activity, tried changes with their results, *Stop*, which keeps the
/// best result, and ways to apply or save the result.
class TunePanel : public QWidget {
    Q_OBJECT
public:
    TunePanel(TuningService* tuning, ConfigurationModel* configuration, const TraceDocument* document,
              const JournalStore* journal, const JobGuard* jobs, ReportSaver* reports, const RunStore* runs,
              QWidget* parent);

private:
    QWidget* makeHeader();
    QWidget* makePage();
    void connectServices();
    void comeToFront();
    void markUnseen(bool unseen);
    void start();
    void showState();
    void showHeader();
    void showClock();
    void showProgress(const advisor::TuneProgress& progress);
    void showRows(const std::vector<advisor::TuneTrial>& trials, const advisor::TuneProgress* now);
    void showDetail(const advisor::TuneTrial* trial);
    void showChart();
    [[nodiscard]] const std::vector<advisor::TuneTrial>* trials() const;
    [[nodiscard]] const advisor::TuneTrial* trialAt(const QString& key) const;

    TuningService* m_tuning;
    ConfigurationModel* m_configuration;
    const TraceDocument* m_document;
    const JournalStore* m_journal;
    const JobGuard* m_jobs;
    ReportSaver* m_reports;
    const RunStore* m_runs;
    VisibilityWatcher m_watch;
    QString m_title; ///< title of the dock while it has the mark of an unseen result
    QTimer m_clock;  ///< updates the progress bar between two messages of the tuner
    double m_spentAtWord = 0;
    qint64 m_wordAt = 0; ///< ms of the steady clock
    QPushButton *m_start = nullptr, *m_stop = nullptr;
    QSpinBox* m_minutes = nullptr;
    QLabel *m_doing = nullptr, *m_empty = nullptr, *m_detail = nullptr, *m_within = nullptr;
    QProgressBar* m_spent = nullptr;
    QStackedWidget* m_pages = nullptr;
    EvidenceTable* m_table = nullptr;
    QComboBox* m_chartChoice = nullptr;
    XyChart* m_chart = nullptr;
    std::optional<std::size_t> m_trial; ///< the one that the losses are of; none: the last one
    QLabel* m_origin = nullptr;         ///< what was tuned
    TuneResultBar* m_result = nullptr;
};

} // namespace app
