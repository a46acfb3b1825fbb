#pragma once

#include "advisor/rule.h"
#include "profiler/model/clock.h"

#include <QFrame>

class QLabel;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace app {

class ConfigurationModel;
class ExperimentService;
class JobGuard;
class JournalStore;
class MeasurementBox;
class Notices;
class PatchBox;
class SourceSnippet;
class TipBox;
class TraceDocument;
class TrainingService;
struct KeptChange;

/// What a card uses: the trace of its finding, and the services that measure and keep its change.
struct FindingServices {
    Notices* notices;
    TraceDocument* document;
    const ConfigurationModel* configuration;
    const JobGuard* jobs;
    JournalStore* journal;
    ExperimentService* experiments;
    TrainingService* training;
};

/// One finding: the problem, the estimated saving, its evidence, the change and its measurement.
class FindingCard : public QFrame {
    Q_OBJECT
public:
    FindingCard(const FindingServices& services, advisor::RuleAdvice advice, QWidget* parent);

    [[nodiscard]] const advisor::RuleAdvice& advice() const { return m_advice; }
    /// A newer verdict of the same rule.
    void setAdvice(const advisor::RuleAdvice& advice, int rank);
    /// The training, the configuration or a measurement changed.
    void refresh();

signals:
    /// The user asks for a measurement while a training is running.
    void stopRunAndMeasure(const advisor::RuleAdvice& advice);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void build();
    QWidget* makeButtons();
    QWidget* makeWhy();
    void connectMeasurement();
    void showNextEvidence();
    void makeTip();
    void toggleTip();
    [[nodiscard]] bool isPatchable() const;
    [[nodiscard]] bool isOfProgram() const;
    void makePatch();
    void togglePatch();
    void showSnippet();
    void openSource(const QString& index);
    void refreshApply();
    void refreshMeasurement();
    [[nodiscard]] const KeptChange* keptChange() const;
    [[nodiscard]] QString expectedText() const;
    [[nodiscard]] QString otherResultNote() const;
    [[nodiscard]] QString ruleId() const { return QString::fromStdString(m_advice.id); }

    FindingServices m_uses;
    advisor::RuleAdvice m_advice;
    int m_rank = 0;
    profiler::TimeRange m_shown; ///< index of the evidence shown last
    QLabel *m_title = nullptr, *m_reason = nullptr, *m_source = nullptr, *m_saving = nullptr, *m_note = nullptr;
    SourceSnippet* m_snippet = nullptr;
    QPushButton *m_show = nullptr, *m_apply = nullptr, *m_diff = nullptr, *m_stopAndApply = nullptr;
    QToolButton* m_why = nullptr;
    QWidget* m_buttons = nullptr;
    MeasurementBox* m_measurement = nullptr;
    TipBox* m_tip = nullptr;     ///< created when it is first expanded
    PatchBox* m_patch = nullptr; ///< created when the diff is first shown
};

} // namespace app
