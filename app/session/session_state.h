#pragma once

#include "app/session/analyser.h"
#include "app/session/background.h"
#include "app/session/code_gate.h"
#include "app/session/level_cost_measurer.h"
#include "app/session/recording_follower.h"
#include "app/session/report_saver.h"
#include "app/session/run_controller.h"
#include "app/session/run_store.h"
#include "app/session/session.h"
#include "app/session/session_change.h"
#include "app/session/trace_follower.h"
#include "app/session/trace_loader.h"
#include "app/session/trace_saver.h"
#include "app/session/trainer_description.h"
#include "app/session/tune_controller.h"
#include "profiler/os/file_lock.h"

#include <QTimer>
#include <functional>
#include <map>
#include <span>
#include <string>

namespace app {

/// What a session owns. The parts know nothing of each other; the session joins them.
struct Session::State {
    explicit State(QObject* session) : datasetCheck(session) {}

    config::TrainingConfig configuration;
    QUndoStack undo;                              ///< of ChangeCommands
    QTimer keepSoon;                              ///< several changes of one moment are written once
    std::unique_ptr<profiler::os::LockFile> lock; ///< this session is the one that is kept; null: it is not kept
    bool restoring = false;                       ///< commands come back that were done before
    TrainerDescription description;
    Background datasetCheck; ///< of the training that is to start
    CodeGate gate;
    std::function<void()> afterCopyAsked; ///< what copyAsked() is about

    RunController run;
    std::optional<RunRecord> running;                ///< the run in progress
    std::unique_ptr<profiler::os::LockFile> runLock; ///< other windows see by it that it is
    bool following = false;                          ///< its trace is being written, or read to the end
    bool recording = false;                          ///< a program, by somebody else
    QString heldBack;                                ///< why nothing is started, from within commitPendingEdits()
    std::vector<RunRecord> runs;
    RunStore store;
    std::optional<config::protocol::Hello> hello;
    std::vector<config::protocol::StepProgress> steps;
    std::optional<double> lastLoss; ///< of the newest step that read it
    std::vector<config::protocol::EpochProgress> epochs;

    std::shared_ptr<const profiler::Trace> trace;
    std::shared_ptr<const Analysed> analysed;
    std::shared_ptr<const Advised> advice;
    std::optional<config::TrainingConfig> traceConfiguration;
    QString title;
    std::filesystem::path path;
    std::map<std::string, std::string> along; ///< of a copy's metadata, see keepWithTrace()
    TraceFollower follower;
    RecordingFollower recordingFollower;
    QString recordingTitle;        ///< of the program that is recorded
    bool showingRecording = false; ///< what is on screen is a part of it so far
    TraceLoader loader;
    TraceSaver saver;
    bool ownRun = false;     ///< the trace on screen is of a training that this session ran to its end
    bool previewing = false; ///< the trace on screen is a part of the file that is being read
    bool isPart = false;     ///< it is a part, and no more is going to be read
    QString whyNotAnalysed;
    Analyser analyser;

    ExperimentController experiments;
    LevelCostMeasurer levelCosts;
    TuneController tuning;
    ReportSaver reports;
    Journal kept;    ///< whatever was kept and predicted, of all trainings
    Journal journal; ///< of `kept`, what is in the configuration and was measured with the training on screen
    /// Adds what was predicted of experiments that have ended. False: nothing was.
    bool addPredictions(std::span<const advisor::ExperimentResult> measured, const Origin& program = {});
};

/// "resnet18", "resnet18 · Workers = 2", "resnet18 · 3 changes": a run named by how far it is from the oldest kept run
/// of the same model.
QString runTitle(const config::TrainingConfig& configuration, const std::vector<RunRecord>& runs);

} // namespace app
