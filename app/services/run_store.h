#pragma once

#include "app/services/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"
#include "profiler/os/file_lock.h"
#include "trainer/config/training_config.h"

#include <QDateTime>
#include <QObject>
#include <QString>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

/// The kept runs: their folders with configuration, trace and result, and the list of them.
namespace app {

class Notices;

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

/// The kept runs and the one in progress. Reads and removes runs off the GUI thread, because the folder may contain
/// thousands of runs or be on a slow disk.
class RunStore : public QObject {
    Q_OBJECT
public:
    explicit RunStore(Notices* notices) : m_notices(notices) {}
    /// Waits for a running removal, and for a running sealing to be cancelled; later ones are dropped.
    ~RunStore() override = default;

    [[nodiscard]] const std::vector<RunRecord>& all() const { return m_all; } ///< newest first; empty until reload()
    /// Reads them in the background; changed() follows. Does nothing during a run.
    void reload();
    /// Removes a run in the background, one after another. Emits changed(), or reports if the run is still being
    /// trained by a window.
    void remove(const RunRecord& run);
    /// Seals the trace of a run that has ended, in the background: compresses it and deletes its ring file. Removals
    /// and other traces wait for it. Reports if it fails; the trace then stays as it was recorded.
    /// @param trace  the content of the file; null: read it
    void seal(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    /// Requests a comparison of this run with the trace on screen, by comparisonWanted().
    void compare(const RunRecord& run) { emit comparisonWanted(run); }

    /// Adds a run that has started; until close(), other windows see that it is in progress.
    void open(const RunRecord& run);
    /// The run in progress; none between runs.
    [[nodiscard]] const std::optional<RunRecord>& current() const { return m_current; }
    /// The run in progress has ended: saves its outcome.
    void close(const RunOutcome& outcome);

    /// "resnet18", "resnet18 · Workers = 2", "resnet18 · 3 changes": names a run by its difference from the oldest kept
    /// run of the same model.
    [[nodiscard]] QString titleOf(const config::TrainingConfig& configuration) const;
    [[nodiscard]] bool contains(const std::filesystem::path& trace) const;

signals:
    void changed();
    void comparisonWanted(const app::RunRecord& run);

private:
    void take(std::vector<RunRecord> runs);
    /// Runs tasks of the run folders one after another; each of them ends with nextTask().
    void addTask(std::function<void()> task);
    void nextTask();
    void endRemoval(const RunRecord& run, const profiler::Result<void>& result);

    Notices* m_notices;
    std::vector<RunRecord> m_all;
    std::optional<RunRecord> m_current;
    std::unique_ptr<profiler::os::LockFile> m_lock; ///< shows other windows that the run is in progress
    std::vector<std::function<void()>> m_tasks;     ///< not started yet
    bool m_busy = false;
    Background m_reading{this}, m_work{this};
};

} // namespace app
