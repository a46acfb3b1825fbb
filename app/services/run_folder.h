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

/// The outcome of a kept run.
struct RunOutcome {
    /// "finished", "stopped", "failed"; "running" in this or another window; "interrupted": the app exited before the
    /// run ended.
    QString state;
    QString message; ///< message of a failure
    qint64 steps = 0;
    double seconds = 0;
    double samplesPerSecond = 0;
    double finalLoss = 0;
    double validationMetric = 0; ///< of the last validation; 0: none
    QString metric = "accuracy"; ///< name of the metric, see config::protocol::metricText()
};

/// One run in its folder: config.json, trace.sstrace, result.json.
struct RunRecord {
    std::filesystem::path folder;
    QString name; ///< folder name; sorts by time
    QDateTime started;
    config::TrainingConfig configuration;
    RunOutcome outcome;

    [[nodiscard]] std::filesystem::path trace() const { return folder / "trace.sstrace"; }
    [[nodiscard]] bool isRunning() const { return outcome.state == "running"; }
};

/// Folder of all runs, in the user's application data.
std::filesystem::path runsRoot();
/// Creates the folder of a new run and writes its configuration. Fails if the disk is full or the folder is not
/// writable.
profiler::Result<RunRecord> makeRun(const std::filesystem::path& root, const config::TrainingConfig& configuration);
/// The lock of a run, held by the window that trains it until its result is written; it shows other windows that the
/// run is in progress. Null if the folder is not writable or another window holds the lock.
std::unique_ptr<profiler::os::LockFile> lockRun(const RunRecord& run);
/// Writes result.json completely or not at all.
profiler::Result<void> saveOutcome(const RunRecord& run);
/// All runs under `root` with a readable configuration, newest first. Opens several files per run: do not call on the
/// GUI thread (see RunStore).
/// @param stop  once requested, only the runs read so far are returned
std::vector<RunRecord> readRuns(const std::filesystem::path& root, const std::stop_token& stop = {});
/// Removes a run's folder with its trace. Fails while a window trains it. Do not call on the GUI thread (see RunStore).
profiler::Result<void> removeRun(const RunRecord& run);

} // namespace app
