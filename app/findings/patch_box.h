#pragma once

#include "advisor/advice.h"
#include "advisor/change/program_patch.h"
#include "app/session/background.h"

#include <QWidget>
#include <memory>

class QLabel;
class QPushButton;
class QPlainTextEdit;

namespace app {

/// A finding's change as a diff of the user's own files, for a recorded Python program: shows it, writes it into the
/// files, and takes it back, also after a restart. The diff is made on another thread, by the patcher, when the box is
/// first shown, and again when another box has changed the files.
class PatchBox : public QWidget {
    Q_OBJECT
public:
    /// @param trace  of the program
    /// @param change  what the finding proposes
    PatchBox(std::shared_ptr<const profiler::Trace> trace, advisor::Toggle change, QWidget* parent);

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
    advisor::Toggle m_change;
    advisor::change::ProgramPatch m_patch;
    bool m_prepared = false, m_applied = false, m_writing = false, m_failed = false;
    QLabel *m_how, *m_outcome;
    QPlainTextEdit* m_diff;
    QPushButton *m_apply, *m_revert, *m_copy;
    Background m_thread;
};

} // namespace app
