#pragma once

#include "app/services/trust_store.h"

#include <QDialog>
#include <QObject>
#include <QString>

class QWidget;

/// The dialogs of the window, among them the question whether the user's code may run.
namespace app {

class HelpBook;
class RecordDialog;
struct Workbench;

/// The dialogs of the window: files to open and to save, the program to record, and what the user has to agree to. GUI
/// thread.
class WindowDialogs : public QObject {
    Q_OBJECT
public:
    /// Both must outlive the dialogs.
    WindowDialogs(Workbench* bench, QWidget* window);

    void openTrace();
    /// A trace on another machine.
    void openRemote();
    /// The traces of the ranks of a job, from their folder.
    void openJob();
    /// A second trace beside the one on screen.
    void openBeside();
    /// A file was dropped on the window while it shows a trace: asks at the pointer whether to open it instead or
    /// beside.
    void askHowToOpen(const QString& file);
    void exportTrace();
    void saveReport();
    void openConfiguration();
    void saveConfiguration();
    void recordProgram();
    void showAbout();
    /// Shows the page about what has the focus.
    void showHelp();

    [[nodiscard]] bool isRecording() const;
    /// Called when the window closes: asks the recorded command to end, more forcefully each time.
    void stopRecordingForGood();

signals:
    /// A recording has started or ended.
    void recordingChanged();

private:
    void askAboutCode(const CodeFile& file);
    void askForCopy(const QString& folder, const QString& why);

    Workbench* m_bench;
    QWidget* m_window;
    RecordDialog* m_record = nullptr; ///< created on first use
    HelpBook* m_help = nullptr;       ///< created on first use
};

/// Asks whether a model file or a program of the user may run: what and where it is, its SHA-256, and why this matters.
/// Closing the dialog cancels.
class TrustQuestion : public QDialog {
    Q_OBJECT
public:
    TrustQuestion(const CodeFile& file, QWidget* parent);

    [[nodiscard]] const CodeFile& file() const { return m_file; }

signals:
    /// Emitted once, before the dialog is deleted.
    void answered(app::TrustStore::Answer answer);

private:
    class QWidget* makeFacts(const CodeFile& file);
    class QWidget* makeButtons();

    CodeFile m_file;
    TrustStore::Answer m_answer = TrustStore::Answer::No;
};

} // namespace app
