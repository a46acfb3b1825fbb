#pragma once

#include "app/services/background.h"
#include "app/services/run_folder.h"

#include <QObject>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace app {

class Notices;

/// The kept runs and the one in progress. Reads and removes runs off the GUI thread, because the folder may contain
/// thousands of runs or be on a slow disk.
class RunStore : public QObject {
    Q_OBJECT
public:
    explicit RunStore(Notices* notices) : m_notices(notices) {}
    /// Waits for a running removal; later ones are dropped.
    ~RunStore() override = default;

    [[nodiscard]] const std::vector<RunRecord>& all() const { return m_all; } ///< newest first; empty until reload()
    /// Reads them in the background; changed() follows. Does nothing during a run.
    void reload();
    /// Removes a run in the background, one after another. Emits changed(), or reports if the run is still being
    /// trained by a window.
    void remove(const RunRecord& run);
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
    void removeNext();
    void endRemoval(const RunRecord& run, const profiler::Result<void>& result);

    Notices* m_notices;
    std::vector<RunRecord> m_all;
    std::optional<RunRecord> m_current;
    std::unique_ptr<profiler::os::LockFile> m_lock; ///< shows other windows that the run is in progress
    std::vector<RunRecord> m_toRemove;              ///< not started yet
    bool m_removing = false;
    Background m_reading{this}, m_removal{this};
};

} // namespace app
