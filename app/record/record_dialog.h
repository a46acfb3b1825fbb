#pragma once

#include "advisor/runner/launch_check.h"
#include "app/record/output_text.h"
#include "app/record/record_settings.h"
#include "app/services/recording_service.h"

#include <QDialog>
#include <QElapsedTimer>
#include <optional>
#include <vector>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace app {

class JobGuard;
class TraceDocument;
class TrustStore;

/// Records a program: asks for its command line, shows its output while it runs, and opens the trace when it exits. Not
/// modal; closing the dialog does not stop the recording.
class RecordDialog : public QDialog {
    Q_OBJECT
public:
    RecordDialog(RecordingService* recording, TrustStore* trust, const JobGuard* jobs, TraceDocument* document,
                 QWidget* parent);

    [[nodiscard]] bool isRecording() const { return m_recording->isRunning(); }
    /// Called when the window closes: asks the command to end, more forcefully each time. The trace is kept but not
    /// opened.
    void stopForGood();

signals:
    void recordingChanged();

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void makeForm();
    void makeOutput();
    QHBoxLayout* makeButtons();
    void addOptions(QFormLayout* form);
    QHBoxLayout* makeWindows(QWidget* parent);
    void makeCommand(QWidget* parent);
    void fillHistory(const QString& first);
    void fillOptions();
    void askForOptions();
    void insertOption(const CommandOption& option);
    void takeOptionsOfTrace();
    [[nodiscard]] std::filesystem::path script();
    void forgetHistory();
    void start();
    void record(const QString& line, const RecordRequest& request);
    void stop();
    void take(const QString& output);
    void finish(const RecordEnd& end);
    void say(const QString& what, const QString& detail, bool bad);
    void colourState();
    void update();
    void chooseFolder();
    /// The recording request of the form. If a field is invalid, shows the error below the field and returns nothing.
    std::optional<RecordRequest> checkedRequest(bool alsoEmpty);
    void showProblems(const std::vector<advisor::runner::LaunchProblem>& problems);
    void focusFirstProblem();
    [[nodiscard]] std::vector<std::string> environment() const;

    RecordingService* m_recording;
    TrustStore* m_trust;
    const JobGuard* m_jobs;
    TraceDocument* m_document;
    HelpRunner m_help;
    std::filesystem::path m_helpOf; ///< the script whose options are listed
    QElapsedTimer m_since;
    QTimer m_tick;
    bool m_stopping = false, m_leaving = false, m_bad = false;
    QWidget* m_form = nullptr;
    QComboBox *m_command = nullptr, *m_level = nullptr;
    QToolButton* m_options = nullptr; ///< of the command
    QLineEdit* m_folder = nullptr;
    QPlainTextEdit* m_environment = nullptr;
    QLabel *m_commandError = nullptr, *m_folderError = nullptr, *m_environmentError = nullptr;
    QTimer m_checkSoon; ///< input is checked when the user pauses typing
    QCheckBox *m_part = nullptr, *m_python = nullptr, *m_operators = nullptr, *m_windows = nullptr;
    QSpinBox *m_window = nullptr, *m_every = nullptr;
    QDoubleSpinBox *m_after = nullptr, *m_seconds = nullptr;
    QLabel *m_levelText = nullptr, *m_state = nullptr, *m_detail = nullptr;
    QPlainTextEdit* m_output = nullptr;
    OutputText m_text;
    QPushButton *m_start = nullptr, *m_stop = nullptr;
};

} // namespace app
