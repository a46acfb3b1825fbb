#pragma once

#include "advisor/experiment/experiment.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace app {

class IntervalBar;

/// The part of a card that measures: pairs so far and a shrinking interval, then the verdict with its two ways on.
class MeasurementBox : public QWidget {
    Q_OBJECT
public:
    explicit MeasurementBox(QWidget* parent);

    void showStarting(const QString& expected);
    void showStopping();
    void showProgress(const advisor::ExperimentProgress& progress);
    void showVerdict(const advisor::ExperimentResult& result, bool isKept);
    /// What keeps another training from being started; empty: nothing does.
    void setBusy(const QString& why);

signals:
    void stopClicked();
    void keepClicked();
    void undoClicked();
    void runAgainClicked();

private:
    void showMeasuring(bool canStop);

    QLabel* m_headline;
    IntervalBar* m_bar;
    QLabel* m_detail;
    QPushButton *m_stop, *m_keep, *m_undo, *m_again;
};

} // namespace app
