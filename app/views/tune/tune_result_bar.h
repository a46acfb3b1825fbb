#pragma once

#include "app/session/session.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QToolButton;

namespace app {

class PatchBox;

/// What tuning made of the training or of the program, in a sentence, and the ways to take it along: into the
/// configuration or the user's files, as files, as code to paste. Shown once there is a result.
class TuneResultBar : public QWidget {
    Q_OBJECT
public:
    TuneResultBar(Session* session, QWidget* parent);

    /// Of the session's last tuning.
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
    std::shared_ptr<const ProgramTuned> m_shown; ///< that `m_patch` is of
    PatchBox* m_patch = nullptr;                 ///< null: nothing was kept of a program, or none was tuned
};

} // namespace app
