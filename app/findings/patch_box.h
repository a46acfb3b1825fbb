#pragma once

#include "advisor/change/program_patch.h"
#include "app/session/background.h"

#include <QWidget>
#include <memory>
#include <vector>

class QLabel;
class QPushButton;
class QPlainTextEdit;

namespace app {

/// Changes as one diff of the user's own files, for a recorded Python program (those of a finding, or those that tuning
/// kept): shows it, writes it into the files, and takes it back, also after a restart. The diff is made on another
/// thread, by the patcher, when the box is first shown, and again when another box has changed the files.
class PatchBox : public QWidget {
    Q_OBJECT
public:
    /// @param trace  of the program
    /// @param changes  what the diff makes; at least one
    PatchBox(std::shared_ptr<const profiler::Trace> trace, std::vector<advisor::change::WantedChange> changes,
             QWidget* parent);

    /// The files were changed: what the diff starts from is different.
    void reload();

signals:
    /// A change was written into files, or taken back.
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
