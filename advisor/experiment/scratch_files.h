#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <filesystem>
#include <vector>

namespace advisor {

/// Folders for the logs and checkpoints of training runs that are only measured. They are next to the user's own
/// folders, on the same disk, so that writing costs the same as in the real run, and nothing that the real run wrote is
/// overwritten. The folders are removed with their owner, which outlives the trainers. Not thread-safe.
class ScratchFiles {
public:
    ScratchFiles() = default;
    ~ScratchFiles();
    ScratchFiles(const ScratchFiles&) = delete;
    ScratchFiles& operator=(const ScratchFiles&) = delete;

    /// Redirects the output of `config` to a new folder; each call creates its own.
    /// @return an error if no folder can be created
    profiler::Result<void> redirect(config::TrainingConfig& config);

private:
    profiler::Result<std::filesystem::path> folderFor(const std::filesystem::path& wanted);

    std::vector<std::filesystem::path> m_folders;
};

} // namespace advisor
