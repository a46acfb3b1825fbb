#pragma once

#include <QWidget>
#include <memory>

class QLabel;
class QPushButton;
class QToolButton;

namespace app {

class ConfigurationModel;
class JobGuard;
class ReportSaver;
class TraceDocument;
class TuningService;
struct ProgramTuned;
class PatchBox;

/// The result of tuning a training or program in one sentence, and ways to use it: apply it to the configuration or the
/// user's files, save files, copy code. Shown when there is a result.
class TuneResultBar : public QWidget {
    Q_OBJECT
public:
    TuneResultBar(TuningService* tuning, const ConfigurationModel* configuration, const TraceDocument* document,
                  const JobGuard* jobs, ReportSaver* reports, QWidget* parent);

    /// Shows the last tuning.
    void showResult();

protected:
    void changeEvent(QEvent* event) override;

private:
    QToolButton* makeCopyButton();
    void colourSummary();
    [[nodiscard]] bool isApplied() const;
    void saveConfiguration();
    void saveReport();
    void savePatch();
    void showProgramResult();
    void showDiff();
    [[nodiscard]] bool isBetter() const;
    void copyCode(std::string_view heading);

    TuningService* m_tuning;
    const ConfigurationModel* m_configuration;
    const TraceDocument* m_document;
    const JobGuard* m_jobs;
    ReportSaver* m_reports;
    QLabel* m_summary;
    QPushButton *m_apply, *m_saveConfiguration, *m_saveReport, *m_showDiff, *m_savePatch;
    QToolButton* m_copy;
    std::shared_ptr<const ProgramTuned> m_shown; ///< the result shown by `m_patch`
    PatchBox* m_patch = nullptr;                 ///< null if no change of a program was kept
};

} // namespace app
