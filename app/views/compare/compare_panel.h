#pragma once

#include "app/models/comparison.h"
#include "app/session/background.h"
#include "app/session/session.h"
#include "app/widgets/visibility_watcher.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QProgressBar;
class QStackedWidget;
class QToolButton;

namespace app {

class DistributionChart;
class EvidenceTable;

/// The trace on screen beside another, a kept run's or any file's: first whether they can be compared, then their step
/// times with the interval of the difference, then what moved.
class ComparePanel : public QWidget {
    Q_OBJECT
public:
    ComparePanel(Session* session, QWidget* parent);

    /// Compares with the trace of this file, whenever a trace is on screen.
    /// @param name  for people
    void compareWith(const std::filesystem::path& file, const QString& name);

protected:
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeHeader();
    QWidget* makePage();
    void connectSession();
    void listRuns();
    void comeToFront();
    void choose(int entry);
    void chooseFile();
    void request();
    void start();
    void showState();
    void take(const Comparison& compared);
    void showVerdict(const Comparison& compared);
    void colourVerdict();
    void fail(const profiler::Error& error);
    [[nodiscard]] QString settingsThatDiffer() const;

    Session* m_session;
    Background m_work;
    VisibilityWatcher m_front{this};
    std::filesystem::path m_file; ///< of the other trace; empty: none chosen
    QString m_name;
    std::shared_ptr<const profiler::Trace> m_other; ///< of m_file, once it was read
    bool m_dirty = false;                           ///< to be compared when it is seen
    bool m_busy = false;
    advisor::Difference::Verdict m_shown = advisor::Difference::Verdict::NotShown;
    QComboBox* m_choice = nullptr;
    QProgressBar* m_progress = nullptr;
    QToolButton* m_cancel = nullptr;
    QStackedWidget* m_pages = nullptr;
    QLabel *m_empty = nullptr, *m_verdict = nullptr, *m_why = nullptr;
    DistributionChart* m_chart = nullptr;
    EvidenceTable* m_table = nullptr;
};

} // namespace app
