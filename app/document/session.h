#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/rule.h"
#include "app/document/trace_loader.h"
#include "app/document/trace_summary.h"
#include "app/services/code_gate.h"
#include "app/services/experiment_controller.h"
#include "app/services/journal.h"
#include "app/services/run_folder.h"
#include "app/services/run_state.h"
#include "app/services/tune_controller.h"
#include "profiler/analysis/facts.h"
#include "profiler/model/trace.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace app {

struct Advised;
struct ReportContents;
struct RunEnd;
struct SessionChange;

/// Source of the steps of a trace. By default its step marks; for a complete trace without marks, repeated work.
struct StepSource {
    bool repetition = false; ///< infer steps from repeated work, even if there are marks
    std::string range = {};  ///< use ranges of this name, see analysis::stepMarks(); empty: none
    bool marksOnly = false;  ///< the user removed inferred steps
    friend bool operator==(const StepSource&, const StepSource&) = default;
};

/// A trace with its analysis, computed off the GUI thread. Immutable.
struct Analysed {
    std::shared_ptr<const profiler::Trace> trace;
    profiler::analysis::Facts facts;
    TraceSummary summary;
    StepSource source;       ///< of its steps
    QString whyNoRepetition; ///< why no steps could be inferred from repetition; otherwise empty
    QString whyNoRange;      ///< why no ranges of the given name could be used as steps; otherwise empty
};

/// The state of the app: the configuration, the trainer's run, the trace on screen, its analysis, and experiments. GUI
/// thread; long work runs on other threads and reports back through signals.
class Session : public QObject {
    Q_OBJECT
public:
    explicit Session(QObject* parent = nullptr);
    ~Session() override;

    /// Restores the configuration, the journal and the undo steps of the last session, and saves them from now on.
    /// Reports by noticed() if they cannot be read (the file is moved aside), or if another window saves its own.
    void restore();

    // configuration
    [[nodiscard]] const config::TrainingConfig& configuration() const;
    /// Validates and sets one knob as an undoable command. Returns the error message on failure (configuration
    /// unchanged).
    std::optional<QString> setKnob(std::string_view key, const QString& text);
    void setConfiguration(const config::TrainingConfig& configuration, const QString& undoText);
    /// Loads a configuration from a file; reports errors by noticed().
    void loadConfiguration(const std::filesystem::path& path);
    [[nodiscard]] QUndoStack* undoStack();
    /// Capabilities of the trainer; empty until queried.
    [[nodiscard]] const config::protocol::Description& description() const;
    [[nodiscard]] bool descriptionKnown() const;
    /// Queries the trainer's capabilities in the background. The constructor does not do this, so that the window
    /// paints first.
    void refreshDescription();

    // the run
    [[nodiscard]] RunState runState() const;
    /// First commits pending edits, and does not start if one is rejected. Emits codeAsked() if the training would run
    /// a user file that is not trusted.
    void start();
    void pause();
    void resume();
    void stop(); ///< asks the trainer to stop after its current step; kills it after ten seconds
    /// True while a training runs or the end of its trace is still being read: runFinished() follows.
    [[nodiscard]] bool isRunOpen() const;
    [[nodiscard]] const std::vector<config::protocol::StepProgress>& stepHistory() const;
    [[nodiscard]] std::optional<double> lastLoss() const; ///< of the newest step that has a loss value
    [[nodiscard]] const std::vector<config::protocol::EpochProgress>& epochHistory() const;
    /// Information from the trainer at the start of the last run: sizes, planned steps.
    [[nodiscard]] const std::optional<config::protocol::Hello>& hello() const;

    /// Calls `go` when the user allows, or has already allowed, the program to run. Emits codeAsked() before, once per
    /// command and script content.
    void passProgram(const std::vector<std::string>& command, const std::filesystem::path& folder,
                     std::function<void()> go);
    /// Answers codeAsked() for a run, an experiment or a recording.
    void answerCode(const CodeFile& file, CodeGate::Answer answer);

    /// Answers copyAsked(); a positive answer is remembered.
    void answerCopy(bool allowed);

    // kept runs
    [[nodiscard]] const std::vector<RunRecord>& runs() const; ///< newest first; empty until reloadRuns()
    /// Reads them in the background; runsChanged() follows.
    void reloadRuns();
    void openRun(const RunRecord& run);
    /// Removes a run in the background. Emits runsChanged(), or noticed() if the run is still being trained by a
    /// window.
    void deleteRun(const RunRecord& run);
    /// Requests a comparison of this run with the trace on screen, by comparisonWanted().
    void compareWith(const RunRecord& run);

    // the trace
    [[nodiscard]] std::shared_ptr<const profiler::Trace> trace() const; ///< never null
    [[nodiscard]] std::shared_ptr<const Analysed> analysed() const;     ///< null until computed
    /// Advice for the trace, updated every second while it grows; null until computed. See analyser.h.
    [[nodiscard]] std::shared_ptr<const Advised> advice() const;
    /// Analyses the trace on screen again, with steps inferred from repetition or from its marks; reports by noticed()
    /// if nothing repeats. Not saved: the next trace starts with its marks.
    void setStepsByRepetition(bool on);
    /// The same, with ranges of this name as steps.
    void setStepRange(const QString& name);
    /// Opens a trace of any format, recognized by its content. Shows a preview while a large file loads.
    void openTrace(const std::filesystem::path& path);
    /// The same, or loads the configuration in the file.
    void openFile(const std::filesystem::path& path);
    /// Exports the trace on screen in the format of the extension.
    void exportTrace(const std::filesystem::path& path);
    /// Metadata to add to an exported copy of the trace on screen in our own format, until another trace is opened. An
    /// empty text removes the key from the copy.
    void keepWithTrace(const std::string& key, const std::string& text);
    /// Cancels opening or exporting, whichever loading() reports.
    void cancelLoading();
    [[nodiscard]] bool isExporting() const;
    [[nodiscard]] bool isLoading() const; ///< a file is being read
    [[nodiscard]] bool
    isPartial() const; ///< only part of the file is on screen because it is still loading or loading ended early
    [[nodiscard]] QString traceTitle() const; ///< "resnet18 · 3 changes" or a file name; empty: none
    [[nodiscard]] std::filesystem::path tracePath() const;
    /// Configuration of the trace on screen; none if the trace does not contain one.
    [[nodiscard]] const std::optional<config::TrainingConfig>& traceConfiguration() const;
    /// Why the trace on screen could not be analysed; empty if it was, or its analysis is running.
    [[nodiscard]] const QString& whyNotAnalysed() const;
    /// The training whose results are shown: that of the trace on screen, or the current configuration without a trace.
    /// Null: the trace does not say what it trained, so no result belongs to it.
    [[nodiscard]] const config::TrainingConfig* trainingOnScreen() const;
    /// Whether measurements on this machine may belong to the trace on screen; see isMachineOf(). Without a trace:
    /// whether the machine is this one.
    [[nodiscard]] bool isMachineOnScreen(const advisor::Machine& machine) const;
    /// The recorded program of the trace on screen, with which changes can be measured; without an id: none.
    [[nodiscard]] Origin programOnScreen() const;

    // experiments
    [[nodiscard]] bool experimentRunning() const;
    void startExperiment(const advisor::RuleAdvice& advice);
    void cancelExperiment();
    [[nodiscard]] const ExperimentController& experiments() const;
    /// Estimated duration of a measurement; none if the trace has no step time yet.
    [[nodiscard]] std::optional<std::chrono::seconds> expectedDuration(const advisor::RuleAdvice& advice) const;

    // recording overhead (level_costs.h)
    /// Measures the overhead of the recording levels with the current configuration, in the background. Exclusive like
    /// an experiment.
    void measureLevelCosts();
    void cancelLevelCosts();
    [[nodiscard]] bool measuringLevelCosts() const;

    /// True while a training, a measurement, tuning or a recording is running. Nothing else can be started then,
    /// because it would skew the results.
    [[nodiscard]] bool isBusy() const;
    /// The current activity: "A training run is in progress."; empty if there is none. Functions that start something
    /// report it by noticed().
    [[nodiscard]] QString whyBusy() const;
    /// Set by the recorder of a program.
    void setRecording(bool recording);
    /// Shows the recording so far, until it ends; see RecordingFollower.
    /// @param title  title of the program
    void followRecording(const std::filesystem::path& trace, std::int64_t recorder, const QString& title);
    [[nodiscard]] bool isRecording() const;
    /// Stops the training, or the running measurement or tuning.
    void stopWhatRuns();
    [[nodiscard]] bool canStop() const; ///< an activity other than a recording is running and has not been asked to
                                        ///< stop
    /// Called from commitPendingEdits() handlers: prevents the start, with the reason.
    void veto(const QString& why);

    // tuning
    [[nodiscard]] bool tuningRunning() const;
    /// Measures the advisor's changes and keeps those that pay: with the recorded program of the trace on screen if
    /// there is one (see advisor::tuneProgram), otherwise with the current configuration (see advisor::tune).
    /// @param budget  for all experiments together
    void startTuning(std::chrono::seconds budget);
    void stopTuning(); ///< the result contains the changes kept so far
    [[nodiscard]] const TuneController& tuning() const;
    /// Whether the running or last tuning belongs to the training on screen.
    [[nodiscard]] bool isTuningOfScreen() const;
    /// Applies the result of the last tuning to the configuration and the journal as one undoable step.
    void applyTuning();

    /// Saves the tuned configuration; reports errors by noticed().
    void saveTuned(const std::filesystem::path& path);

    /// Saves the diff of a tuned program's files, with paths relative to its folder.
    void saveTunedPatch(const std::filesystem::path& path);

    /// Saves a report on the trace on screen with its measured changes and its tuning, in the format of the extension:
    /// .pdf, otherwise HTML. Emits noticed() when done.
    void saveReport(const std::filesystem::path& path);
    /// The same for the last tuning: the tried changes, and the trace on screen if it has the same model. Requires a
    /// tuning result.
    void saveTuneReport(const std::filesystem::path& path);

    // measured changes
    /// The kept changes that are in the configuration and were measured with the training on screen.
    [[nodiscard]] const Journal& journal() const;
    /// A result of another training or machine than that of the trace on screen.
    struct OtherResult {
        QString title; ///< of the finding
        Origin origin; ///< what it was measured with
        advisor::ExperimentResult result;
        bool kept = false; ///< kept in the journal of that training
    };
    /// Oldest first, kept ones before the others.
    [[nodiscard]] std::vector<OtherResult> otherResults() const;
    /// Adds a measured change to the configuration and the journal as one undoable step.
    void keepChange(const advisor::RuleAdvice& advice);
    /// Undoes a kept change; discards a measured change that was not kept.
    void undoChange(const QString& ruleId);

signals:
    void configurationChanged();
    void descriptionChanged();
    void runStateChanged(app::RunState state);
    void runFinished(); ///< the training has ended and its trace, if any, is completely read
    /// isBusy(), canStop() or the activity changed.
    void busyChanged();
    /// An activity is about to start: pending edits must be committed now; see veto().
    void commitPendingEdits();
    void progressed(const config::protocol::Progress& progress);
    /// An error or notice for the user, shown in a strip above the timeline.
    void noticed(const QString& what, const QString& detail, bool isError);
    /// A run was not started because of the value of this knob, which its field then shows. An empty `why` means that
    /// the value is valid.
    void knobProblem(const QString& key, const QString& why);
    /// The user started an action that may emit noticed(); earlier notices are obsolete.
    void noticeOutdated();
    /// Asks whether this file may be run. Nothing starts until answerCode().
    void codeAsked(const app::CodeFile& file);
    /// This machine cannot give the program a private view of the user's files. Asks whether to run it in a copy of its
    /// working directory. Nothing starts until answerCopy().
    /// @param why  reason, one sentence
    void copyAsked(const QString& folder, const QString& why);
    void traceChanged();  ///< also for each new snapshot of a live trace
    void traceReplaced(); ///< a different trace: reset zoom and selection
    void traceOpened();   ///< a file has been read completely
    void analysedChanged();
    void adviceChanged();
    void loading(const QString& what, double share); ///< share 1: finished
    void runsChanged();
    void comparisonWanted(const app::RunRecord& run);
    void journalChanged();
    /// A patch was applied to files of the recorded program, or reverted.
    void programFilesChanged();
    void experimentStarted(const QString& ruleId);
    void experimentProgressed(const QString& ruleId, const advisor::ExperimentProgress& progress);
    void experimentFinished(const QString& ruleId, const advisor::ExperimentResult& result);
    void experimentFailed(const QString& ruleId, const QString& message);
    void tuningStarted();
    void tuningProgressed(const advisor::TuneProgress& progress);
    void tuningEnded(); ///< tuning() has the result, or the reason why there is none

    void levelCostsChanged();
    void levelCostsProgressed(const QString& level, double share); ///< share 1: ended

private:
    void connectBusy();
    void connectRun();
    void connectLevelCosts();
    void connectGate();
    bool mayStart();
    bool takeEdits();
    void passGate(std::function<void()> go);
    void passPackage(const std::function<void()>& go);
    void startRun();
    std::optional<ProgramMeasurement> recordedProgram();
    void passRecorded(ProgramMeasurement what, const std::function<void(ProgramMeasurement)>& go);
    void measureProgram(const advisor::RuleAdvice& advice);
    void passIsolation(const std::filesystem::path& folder, const std::function<void(advisor::runner::Isolation)>& go);
    void connectTrace();
    void connectExperiments();
    void connectTuning();
    [[nodiscard]] ReportContents contentsOfTrace() const;
    void addMeasured(ReportContents& to, const config::TrainingConfig& of) const;
    void settleResults();
    void load(const std::filesystem::path& path, TraceLoader::Expect expect);
    void takeConfiguration(const std::filesystem::path& path, const config::TrainingConfig& configuration);
    void refuseConfiguration(const QString& why);
    void takeRuns(std::vector<RunRecord> runs);
    void connectRuns();
    void endRun(const RunEnd& end);
    void replaceTrace(std::shared_ptr<const profiler::Trace> trace, const QString& title,
                      const std::filesystem::path& path);
    void showPreview(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    void leaveRun(const profiler::Trace& trace);
    void leaveOwnRun(const profiler::Trace& trace);
    [[nodiscard]] QString titleOf(const std::filesystem::path& path) const;
    void leaveRecording();
    void showRecording(const std::shared_ptr<const profiler::Trace>& part);
    void showLoaded(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    void push(SessionChange change);
    void apply(const SessionChange& change, bool forth);
    bool refreshJournal();
    void settlePart();
    void keepSession();

    struct State;
    std::unique_ptr<State> m;
};

} // namespace app
