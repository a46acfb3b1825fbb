#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/rule.h"
#include "app/models/trace_summary.h"
#include "app/session/code_gate.h"
#include "app/session/experiment_controller.h"
#include "app/session/journal.h"
#include "app/session/run_folder.h"
#include "app/session/run_state.h"
#include "app/session/trace_loader.h"
#include "app/session/tune_controller.h"
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

/// Where the steps of a trace come from. By default its marks; a complete trace without marks: its repeated work.
struct StepSource {
    bool repetition = false; ///< only repeated work, also where there are marks
    std::string range = {};  ///< ranges of this name, as analysis::stepMarks() has it; empty: none
    bool marksOnly = false;  ///< the user removed inferred steps
    friend bool operator==(const StepSource&, const StepSource&) = default;
};

/// A trace with what was computed from it, off the GUI thread. Immutable.
struct Analysed {
    std::shared_ptr<const profiler::Trace> trace;
    profiler::analysis::Facts facts;
    TraceSummary summary;
    StepSource source;       ///< of its steps
    QString whyNoRepetition; ///< steps were to be found by repetition, and nothing repeats; else empty
    QString whyNoRange;      ///< ranges were to be the steps, and the trace has none of that name; else empty
};

/// Everything that is going on: the configuration, the trainer's run, the trace on screen, its analysis, experiments.
/// GUI thread; long work happens elsewhere and comes back as signals.
class Session : public QObject {
    Q_OBJECT
public:
    explicit Session(QObject* parent = nullptr);
    ~Session() override;

    /// Takes up the configuration, the journal and the steps of undo where the app left them, and keeps them from here
    /// on. Tells by noticed() when they cannot be read (they are put aside), or when another window keeps its own.
    void restore();

    // configuration
    [[nodiscard]] const config::TrainingConfig& configuration() const;
    /// Checks and sets one knob as an undoable command; the message of the error otherwise (configuration unchanged).
    std::optional<QString> setKnob(std::string_view key, const QString& text);
    void setConfiguration(const config::TrainingConfig& configuration, const QString& undoText);
    /// Takes a configuration from a file; tells by noticed() what is wrong with one that cannot be taken.
    void loadConfiguration(const std::filesystem::path& path);
    [[nodiscard]] QUndoStack* undoStack();
    /// What the trainer can do; empty lists until it was asked.
    [[nodiscard]] const config::protocol::Description& description() const;
    [[nodiscard]] bool descriptionKnown() const;
    /// Asks the trainer what it can do, in the background. Not done by the constructor, so that the window paints
    /// first.
    void refreshDescription();

    // the run
    [[nodiscard]] RunState runState() const;
    /// Takes what is typed and not entered yet first, and does not start when that is refused. Asks by codeAsked()
    /// when the training would run a file of the user's that is not trusted.
    void start();
    void pause();
    void resume();
    void stop(); ///< asks the trainer to finish its step; kills it after ten seconds
    /// A training runs, or the end of its trace is still being read: runFinished() follows.
    [[nodiscard]] bool isRunOpen() const;
    [[nodiscard]] const std::vector<config::protocol::StepProgress>& stepHistory() const;
    [[nodiscard]] std::optional<double> lastLoss() const; ///< of the newest of them that read it
    [[nodiscard]] const std::vector<config::protocol::EpochProgress>& epochHistory() const;
    /// What the trainer said at the start of the last run: sizes, planned steps.
    [[nodiscard]] const std::optional<config::protocol::Hello>& hello() const;

    /// Calls `go` when the user allows to run the program, now or earlier; asks by codeAsked() before, once for each
    /// command and content of its script.
    void passProgram(const std::vector<std::string>& command, const std::filesystem::path& folder,
                     std::function<void()> go);
    /// To what codeAsked() asked, for a run, an experiment or a recording.
    void answerCode(const CodeFile& file, CodeGate::Answer answer);

    /// To what copyAsked() asked; an allowance is remembered.
    void answerCopy(bool allowed);

    // kept runs
    [[nodiscard]] const std::vector<RunRecord>& runs() const; ///< newest first; empty until reloadRuns()
    /// Reads them in the background; runsChanged() follows.
    void reloadRuns();
    void openRun(const RunRecord& run);
    /// Removes it in the background; runsChanged() follows, or noticed() when it cannot be removed: a window trains it,
    /// this one or another.
    void deleteRun(const RunRecord& run);
    /// Asks for the trace on screen beside this run's, by comparisonWanted().
    void compareWith(const RunRecord& run);

    // the trace
    [[nodiscard]] std::shared_ptr<const profiler::Trace> trace() const; ///< never null
    [[nodiscard]] std::shared_ptr<const Analysed> analysed() const;     ///< null until computed
    /// Of the trace, up to date each second while it grows; null until computed. See analyser.h.
    [[nodiscard]] std::shared_ptr<const Advised> advice() const;
    /// Analyses the trace on screen anew, its steps found by what the training repeats, or again by its marks; tells by
    /// noticed() when nothing repeats. Not kept: another trace begins with its marks.
    void setStepsByRepetition(bool on);
    /// The same, with the ranges of this name for its steps.
    void setStepRange(const QString& name);
    /// Any format, told by its content. A long reading shows what there is before it is done.
    void openTrace(const std::filesystem::path& path);
    /// The same, or takes the configuration that the file holds.
    void openFile(const std::filesystem::path& path);
    /// Writes the trace on screen in the format that the extension names.
    void exportTrace(const std::filesystem::path& path);
    /// What a copy of the trace on screen in our own format takes along in its metadata, until another trace comes; an
    /// empty text: nothing under that key, though the trace may have something there.
    void keepWithTrace(const std::string& key, const std::string& text);
    /// Of opening or exporting, whichever loading() tells of.
    void cancelLoading();
    [[nodiscard]] bool isExporting() const;
    [[nodiscard]] bool isLoading() const; ///< a file is being read
    [[nodiscard]] bool
    isPartial() const; ///< only a part of the file is on screen: it is still read, or reading ended early
    [[nodiscard]] QString traceTitle() const; ///< "resnet18 · 3 changes", a file's name; empty for none
    [[nodiscard]] std::filesystem::path tracePath() const;
    /// Configuration of the run on screen; none when the trace has none.
    [[nodiscard]] const std::optional<config::TrainingConfig>& traceConfiguration() const;
    /// Why the trace on screen has no analysis and will get none; empty: it has one, or it is on its way.
    [[nodiscard]] const QString& whyNotAnalysed() const;
    /// The training that results on screen must be of: that of the trace on screen, without a trace the one that is
    /// set. Null: the trace does not say what it trained, and no result is shown as one of its own.
    [[nodiscard]] const config::TrainingConfig* trainingOnScreen() const;
    /// What was measured on this machine may be a result of the trace on screen; see isMachineOf(). Without a trace:
    /// it is this machine.
    [[nodiscard]] bool isMachineOnScreen(const advisor::Machine& machine) const;
    /// The recorded program of the trace on screen, that changes can be measured with; without an id: it is of none.
    [[nodiscard]] Origin programOnScreen() const;

    // experiments
    [[nodiscard]] bool experimentRunning() const;
    void startExperiment(const advisor::RuleAdvice& advice);
    void cancelExperiment();
    [[nodiscard]] const ExperimentController& experiments() const;
    /// About how long measuring takes; none when the trace tells no step time yet.
    [[nodiscard]] std::optional<std::chrono::seconds> expectedDuration(const advisor::RuleAdvice& advice) const;

    // what recording costs here (level_costs.h)
    /// Measures the levels with the configuration as it is, in the background. As exclusive as an experiment.
    void measureLevelCosts();
    void cancelLevelCosts();
    [[nodiscard]] bool measuringLevelCosts() const;

    /// A training runs, a change is measured, it tunes or a program is recorded: nothing else is started beside it, the
    /// numbers would mean nothing.
    [[nodiscard]] bool isBusy() const;
    /// What it is: "A training is running."; empty when nothing is. What starts something says so by noticed() then.
    [[nodiscard]] QString whyBusy() const;
    /// Told by who records a program.
    void setRecording(bool recording);
    /// Shows what a recording holds so far, until it ends; see RecordingFollower.
    /// @param title  of the program
    void followRecording(const std::filesystem::path& trace, std::int64_t recorder, const QString& title);
    [[nodiscard]] bool isRecording() const;
    /// Stops the training; else what is being measured or tuned.
    void stopWhatRuns();
    [[nodiscard]] bool canStop() const; ///< something runs that was not asked to stop yet, but for a recording
    /// From within commitPendingEdits(): nothing is to be started, and why.
    void veto(const QString& why);

    // tuning
    [[nodiscard]] bool tuningRunning() const;
    /// Tries what the advisor advises and keeps what pays: from the recorded program of the trace on screen, where
    /// there is one (see advisor::tuneProgram), else from the configuration there is (see advisor::tune).
    /// @param budget  of all experiments together
    void startTuning(std::chrono::seconds budget);
    void stopTuning(); ///< what paid until then is the result
    [[nodiscard]] const TuneController& tuning() const;
    /// The tuning that runs, or the last one, is of the training on screen.
    [[nodiscard]] bool isTuningOfScreen() const;
    /// Takes what the last tuning found into the configuration and the journal, as one undoable step.
    void applyTuning();

    /// Writes the configuration that it found; tells by noticed() when it cannot.
    void saveTuned(const std::filesystem::path& path);

    /// Writes the diff of a program's files that tuning found, with names that begin in its folder.
    void saveTunedPatch(const std::filesystem::path& path);

    /// Writes what is known of the trace on screen, and of those measured changes and the last tuning that are of it,
    /// as the name says: .pdf, else HTML. Ends with noticed().
    void saveReport(const std::filesystem::path& path);
    /// The same of the last tuning: what it tried, and of the trace on screen only where it is of the same model. There
    /// is one.
    void saveTuneReport(const std::filesystem::path& path);

    // measured changes
    /// The kept changes that are in the configuration and were measured with the training on screen.
    [[nodiscard]] const Journal& journal() const;
    /// A result of another training than the one on screen, or of another machine.
    struct ElsewhereResult {
        QString title; ///< of the finding
        Origin origin; ///< what it was measured with
        advisor::ExperimentResult result;
        bool kept = false; ///< it is in the journal of that training
    };
    /// Oldest first, those that were kept before the others.
    [[nodiscard]] std::vector<ElsewhereResult> measuredElsewhere() const;
    /// Takes a measured change into the configuration and the journal, as one undoable step.
    void keepChange(const advisor::RuleAdvice& advice);
    /// Takes a kept change back; a measured one that was not kept is forgotten.
    void undoChange(const QString& ruleId);

signals:
    void configurationChanged();
    void descriptionChanged();
    void runStateChanged(app::RunState state);
    void runFinished(); ///< the training is over and its trace is read to the end, or there is none
    /// isBusy(), canStop() or what makes them so.
    void busyChanged();
    /// Something is about to be started: what is typed and not entered yet is to be entered now; see veto().
    void commitPendingEdits();
    void progressed(const config::protocol::Progress& progress);
    /// An error or notice for the user: a strip over the timeline.
    void noticed(const QString& what, const QString& detail, bool isError);
    /// A run was not started because of this knob's value, as its field then says; without `why` the value is usable.
    void knobProblem(const QString& key, const QString& why);
    /// The user began something that noticed() may answer: what was told before is done with.
    void noticeOutdated();
    /// May this file be run? Nothing is started until answerCode().
    void codeAsked(const app::CodeFile& file);
    /// Here a program cannot be kept from the user's files by a private view of them. May it run in a copy of its
    /// working directory? Nothing is started until answerCopy(). @param why  a sentence
    void copyAsked(const QString& folder, const QString& why);
    void traceChanged();  ///< also for each new snapshot of a live trace
    void traceReplaced(); ///< another trace altogether: reset zoom and selection
    void traceOpened();   ///< a file is read to its end
    void analysedChanged();
    void adviceChanged();
    void loading(const QString& what, double share); ///< share 1: finished
    void runsChanged();
    void comparisonWanted(const app::RunRecord& run);
    void journalChanged();
    /// Files of the recorded program were changed by a patch, or are as they were before it.
    void programFilesChanged();
    void experimentStarted(const QString& ruleId);
    void experimentProgressed(const QString& ruleId, const advisor::ExperimentProgress& progress);
    void experimentFinished(const QString& ruleId, const advisor::ExperimentResult& result);
    void experimentFailed(const QString& ruleId, const QString& message);
    void tuningStarted();
    void tuningProgressed(const advisor::TuneProgress& progress);
    void tuningEnded(); ///< tuning() has the result, or why there is none

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
