#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <filesystem>
#include <vector>

namespace advisor {

/// Where trainings that are only measured write their log and their checkpoints: in folders of their own beside the
/// user's, on the same disk, so that they cost what they cost in the training itself and never replace what it wrote.
/// The folders go away with their owner, which outlives the trainers. Not thread-safe.
class ScratchFiles {
public:
    ScratchFiles() = default;
    ~ScratchFiles();
    ScratchFiles(const ScratchFiles&) = delete;
    ScratchFiles& operator=(const ScratchFiles&) = delete;

    /// Lets `config` write there. Each call has a folder of its own.
    /// @return an error where no folder can be made
    profiler::Result<void> redirect(config::TrainingConfig& config);

private:
    profiler::Result<std::filesystem::path> folderFor(const std::filesystem::path& wanted);

    std::vector<std::filesystem::path> m_folders;
};

} // namespace advisor
