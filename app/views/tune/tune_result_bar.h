#pragma once

#include "app/document/session.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QToolButton;

namespace app {

class PatchBox;

/// The result of tuning a training or program in one sentence, and ways to use it: apply it to the configuration or the
/// user's files, save files, copy code. Shown when there is a result.
class TuneResultBar : public QWidget {
    Q_OBJECT
public:
    TuneResultBar(Session* session, QWidget* parent);

    /// Shows the session's last tuning.
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

    Session* m_session;
    QLabel* m_summary;
    QPushButton *m_apply, *m_saveConfiguration, *m_saveReport, *m_showDiff, *m_savePatch;
    QToolButton* m_copy;
    std::shared_ptr<const ProgramTuned> m_shown; ///< the result shown by `m_patch`
    PatchBox* m_patch = nullptr;                 ///< null if no change of a program was kept
};

} // namespace app
