#pragma once

#include "app/services/background.h"
#include "app/services/run_folder.h"

#include <QObject>
#include <filesystem>
#include <memory>
#include <vector>

namespace app {

/// Reads and removes kept runs off the GUI thread, because the folder may contain thousands of runs or be on a slow
/// disk.
class RunStore : public QObject {
    Q_OBJECT
public:
    explicit RunStore(QObject* parent = nullptr);
    /// Waits for a running removal; later ones are dropped.
    ~RunStore() override;

    /// Reads all runs; a newer request supersedes a running one.
    void read(const std::filesystem::path& root);
    /// Removes runs one after another.
    void remove(const RunRecord& run);

signals:
    void runsRead(const std::vector<app::RunRecord>& runs); ///< newest first
    void readingFailed(const profiler::Error& error);
    void removed(const std::filesystem::path& folder);
    void removalFailed(const app::RunRecord& run, const profiler::Error& error);

private:
    void removeNext();

    std::vector<RunRecord> m_toRemove; ///< not started yet
    bool m_removing = false;
    Background m_reading{this}, m_removal{this};
};

} // namespace app
