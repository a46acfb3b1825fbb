#pragma once

#include "profiler/model/result.h"
#include "profiler/os/file_lock.h"
#include "trainer/config/training_config.h"

#include <QDateTime>
#include <QString>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <vector>

namespace app {

/// How a kept run went.
struct RunOutcome {
    /// "finished", "stopped", "failed"; "running" here or in another window; "interrupted": the app was gone at its
    /// end.
    QString state;
    QString message; ///< of a failure
    qint64 steps = 0;
    double seconds = 0;
    double samplesPerSecond = 0;
    double finalLoss = 0;
    double validationMetric = 0; ///< of the last validation; 0: none
    QString metric = "accuracy"; ///< what that is, as config::protocol::metricText() has it
};

/// One run in its folder: config.json, trace.sstrace, result.json.
struct RunRecord {
    std::filesystem::path folder;
    QString name; ///< of the folder; sorts by time
    QDateTime started;
    config::TrainingConfig configuration;
    RunOutcome outcome;

    [[nodiscard]] std::filesystem::path trace() const { return folder / "trace.sstrace"; }
    [[nodiscard]] bool isRunning() const { return outcome.state == "running"; }
};

/// Where runs are kept: the user's application data.
std::filesystem::path runsRoot();
/// Makes the folder of a new run and writes its configuration. Fails when the disk is full or the folder cannot be
/// written.
profiler::Result<RunRecord> makeRun(const std::filesystem::path& root, const config::TrainingConfig& configuration);
/// Held by the window that trains a run until its result is written: other windows see by it that the run goes on. Null
/// where the folder cannot be written, or another window holds it.
std::unique_ptr<profiler::os::LockFile> lockRun(const RunRecord& run);
/// Writes result.json, whole or not at all.
profiler::Result<void> saveOutcome(const RunRecord& run);
/// All runs under `root` whose configuration can be read, newest first. Opens several files of each run: not for the
/// GUI thread (see RunStore).
/// @param stop  once requested, only the runs that were read by then are returned
std::vector<RunRecord> readRuns(const std::filesystem::path& root, const std::stop_token& stop = {});
/// Removes a run's folder with its trace. Fails while any window trains it. Not for the GUI thread (see RunStore).
profiler::Result<void> removeRun(const RunRecord& run);

} // namespace app
