#pragma once

#include "advisor/change/program_patch.h"
#include "app/services/background.h"

#include <QWidget>
#include <memory>
#include <vector>

class QLabel;
class QPushButton;
class QPlainTextEdit;

namespace app {

/// Changes to a recorded Python program as one diff of the user's files (the changes of a finding, or those that tuning
/// kept). Shows the diff, applies it to the files and reverts it, also after a restart. The patcher makes the diff on
/// another thread when the box is first shown, and again when another box has changed the files.
class PatchBox : public QWidget {
    Q_OBJECT
public:
    /// @param trace  recording of the program
    /// @param changes  the changes of the diff; at least one
    PatchBox(std::shared_ptr<const profiler::Trace> trace, std::vector<advisor::change::WantedChange> changes,
             QWidget* parent);

    /// The files have changed, so the diff must be made again.
    void reload();

signals:
    /// A change was applied to files or reverted.
    void filesChanged();

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    enum class Action { Apply, Revert };
    void prepare();
    void showPatch(const profiler::Result<advisor::change::ProgramPatch>& patch);
    void carryOut(Action action);
    void showOutcome(Action action, const profiler::Result<std::vector<std::filesystem::path>>& written);
    void setButtons(bool enabled);

    std::shared_ptr<const profiler::Trace> m_trace;
    std::vector<advisor::change::WantedChange> m_changes;
    advisor::change::ProgramPatch m_patch;
    bool m_prepared = false, m_applied = false, m_writing = false, m_failed = false;
    QLabel *m_how, *m_outcome;
    QPlainTextEdit* m_diff;
    QPushButton *m_apply, *m_revert, *m_copy;
    Background m_thread;
};

} // namespace app
