#pragma once

#include "trainer/config/protocol.h"

#include <QStatusBar>
#include <QTimer>

class QLabel;
class QProgressBar;

namespace app {

class JobGuard;
class LevelCostMeasurer;
class TraceDocument;
class TrainingService;

/// The status line of the window: activity, progress, throughput, loss, and lost events.
class StatusLine : public QStatusBar {
    Q_OBJECT
public:
    StatusLine(const TrainingService* training, const JobGuard* jobs, const TraceDocument* document,
               const LevelCostMeasurer* levelCosts, QWidget* parent);

    [[nodiscard]] QString text() const;

private:
    void take(const config::protocol::Progress& progress);
    void showState();
    [[nodiscard]] QString stateAndFigures() const;
    void showOverhead();

    const TrainingService* m_training;
    const JobGuard* m_jobs;
    const TraceDocument* m_document;
    QLabel* m_words;
    QProgressBar* m_bar;
    QString m_preparing, m_overhead;
    QTimer m_redraw;
};

} // namespace app
