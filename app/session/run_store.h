#pragma once

#include "app/session/background.h"
#include "app/session/run_folder.h"

#include <QObject>
#include <filesystem>
#include <memory>
#include <vector>

namespace app {

/// Reads and removes kept runs off the GUI thread: the folder may hold thousands of runs, or lie on a slow disk.
class RunStore : public QObject {
    Q_OBJECT
public:
    explicit RunStore(QObject* parent = nullptr);
    /// Waits for a removal that is under way; the ones after it are given up.
    ~RunStore() override;

    /// Reads all runs; a newer request supersedes one that is under way.
    void read(const std::filesystem::path& root);
    /// Removes the runs that it is called with one after another.
    void remove(const RunRecord& run);

signals:
    void runsRead(const std::vector<app::RunRecord>& runs); ///< newest first
    void readingFailed(const profiler::Error& error);
    void removed(const std::filesystem::path& folder);
    void removalFailed(const app::RunRecord& run, const profiler::Error& error);

private:
    void removeNext();

    std::vector<RunRecord> m_toRemove; ///< not begun yet
    bool m_removing = false;
    Background m_reading{this}, m_removal{this};
};

} // namespace app
