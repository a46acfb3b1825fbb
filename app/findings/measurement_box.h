#pragma once

#include "advisor/experiment/experiment.h"

#include <QWidget>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QPushButton;

namespace app {

class IntervalBar;
class XyChart;

/// The measurement part of a card: the pairs so far with a shrinking interval, then the verdict with Keep and Discard.
/// The subject is a configuration of our trainer or a recorded program.
class MeasurementBox : public QWidget {
    Q_OBJECT
public:
    explicit MeasurementBox(QWidget* parent);

    /// Selects the texts: a configuration can be run again with the change; a program's change is applied to its files.
    void setProgram(bool isProgram) { m_isProgram = isProgram; }
    void showStarting(const QString& expected);
    void showStopping();
    void showProgress(const advisor::ExperimentProgress& progress);
    void showVerdict(const advisor::ExperimentResult& result, bool isKept);
    /// Only the changed program fails.
    void showRefusal(const advisor::ExperimentResult& result, const QStringList& traceback);
    /// Why no training can be started now; empty if one can.
    void setBusy(const QString& why);

signals:
    void stopClicked();
    void keepClicked();
    void undoClicked();
    void runAgainClicked();

private:
    void showMeasuring(bool canStop);
    void showLosses(std::vector<advisor::LossesOfSeed> losses);
    void drawLosses();

    bool m_isProgram = false;
    QLabel* m_headline;
    IntervalBar* m_bar;
    QLabel* m_detail;
    QComboBox* m_lossOver; ///< visible if there are losses
    XyChart* m_loss;
    std::vector<advisor::LossesOfSeed> m_losses;
    QPushButton *m_stop, *m_keep, *m_undo, *m_again;
};

} // namespace app
