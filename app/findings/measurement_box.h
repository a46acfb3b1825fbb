#pragma once

#include "advisor/experiment/experiment.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace app {

class IntervalBar;

/// The part of a card that measures: pairs so far and a shrinking interval, then the verdict with its two ways on. What
/// is measured is a configuration of our trainer, or a recorded program.
class MeasurementBox : public QWidget {
    Q_OBJECT
public:
    explicit MeasurementBox(QWidget* parent);

    /// Of the words: a configuration can be run again with the change, a program's change goes into its files.
    void setProgram(bool isProgram) { m_isProgram = isProgram; }
    void showStarting(const QString& expected);
    void showStopping();
    void showProgress(const advisor::ExperimentProgress& progress);
    void showVerdict(const advisor::ExperimentResult& result, bool isKept);
    /// The program fails with the change, and only with it.
    void showRefusal(const advisor::ExperimentResult& result, const QStringList& traceback);
    /// What keeps another training from being started; empty: nothing does.
    void setBusy(const QString& why);

signals:
    void stopClicked();
    void keepClicked();
    void undoClicked();
    void runAgainClicked();

private:
    void showMeasuring(bool canStop);

    bool m_isProgram = false;
    QLabel* m_headline;
    IntervalBar* m_bar;
    QLabel* m_detail;
    QPushButton *m_stop, *m_keep, *m_undo, *m_again;
};

} // namespace app
