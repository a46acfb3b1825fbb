#pragma once

#include "app/document/analyser.h"
#include "app/document/recording_follower.h"
#include "app/document/report_saver.h"
#include "app/document/session.h"
#include "app/document/session_change.h"
#include "app/document/trace_follower.h"
#include "app/document/trace_loader.h"
#include "app/document/trace_saver.h"
#include "app/services/background.h"
#include "app/services/code_gate.h"
#include "app/services/level_cost_measurer.h"
#include "app/services/run_controller.h"
#include "app/services/run_store.h"
#include "app/services/trainer_description.h"
#include "app/services/tune_controller.h"
#include "profiler/os/file_lock.h"

#include <QTimer>
#include <functional>
#include <map>
#include <span>
#include <string>

namespace app {

/// Members of a session. They do not know each other; the session connects them.
struct Session::State {
    explicit State(QObject* session) : datasetCheck(session) {}

    config::TrainingConfig configuration;
    QUndoStack undo;                              ///< of ChangeCommands
    QTimer keepSoon;                              ///< several simultaneous changes are written once
    std::unique_ptr<profiler::os::LockFile> lock; ///< held if this session is saved; null: it is not saved
    bool restoring = false;                       ///< commands are being restored that were already executed
    TrainerDescription description;
    Background datasetCheck; ///< of the training about to start
    CodeGate gate;
    std::function<void()> afterCopyAsked; ///< the request behind copyAsked()

    RunController run;
    std::optional<RunRecord> running;                ///< the run in progress
    std::unique_ptr<profiler::os::LockFile> runLock; ///< shows other windows that the run is in progress
    bool following = false;                          ///< its trace is still being written or read
    bool recording = false;                          ///< a program is being recorded by another object
    QString vetoReason;                              ///< veto reason, set during commitPendingEdits()
    std::vector<RunRecord> runs;
    RunStore store;
    std::optional<config::protocol::Hello> hello;
    std::vector<config::protocol::StepProgress> steps;
    std::optional<double> lastLoss; ///< of the newest step that has a loss value
    std::vector<config::protocol::EpochProgress> epochs;

    std::shared_ptr<const profiler::Trace> trace;
    std::shared_ptr<const Analysed> analysed;
    std::shared_ptr<const Advised> advice;
    std::optional<config::TrainingConfig> traceConfiguration;
    QString title;
    std::filesystem::path path;
    std::map<std::string, std::string> along; ///< metadata of exported copies, see keepWithTrace()
    TraceFollower follower;
    RecordingFollower recordingFollower;
    QString recordingTitle;        ///< of the recorded program
    bool showingRecording = false; ///< the trace on screen is a preview of the recording
    TraceLoader loader;
    TraceSaver saver;
    bool ownRun = false;     ///< the trace on screen is from a training that this session ran to its end
    bool previewing = false; ///< the trace on screen is a preview of the file being read
    bool isPart = false;     ///< only part of the file was read, and reading has ended
    QString whyNotAnalysed;
    Analyser analyser;

    ExperimentController experiments;
    LevelCostMeasurer levelCosts;
    TuneController tuning;
    ReportSaver reports;
    Journal kept;    ///< all kept changes and predictions, of all trainings
    Journal journal; ///< the changes of `kept` that are in the configuration and were measured with the training on
                     ///< screen
    /// Adds the predictions of finished experiments. False if there are none.
    bool addPredictions(std::span<const advisor::ExperimentResult> measured, const Origin& program = {});
};

/// "resnet18", "resnet18 · Workers = 2", "resnet18 · 3 changes": names a run by its difference from the oldest kept run
/// of the same model.
QString runTitle(const config::TrainingConfig& configuration, const std::vector<RunRecord>& runs);

} // namespace app
