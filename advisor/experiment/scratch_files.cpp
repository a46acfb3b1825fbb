#include "advisor/experiment/scratch_files.h"

#include "advisor/experiment/config_error.h"
#include "profiler/os/files.h"
#include "trainer/config/training_config.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace advisor {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

ScratchFiles::~ScratchFiles()
{
    std::error_code ignored;
    for (const fs::path& folder : m_folders)
        fs::remove_all(folder, ignored);
}

Result<fs::path> ScratchFiles::folderFor(const fs::path& wanted)
{
    std::error_code ignored;
    // The trainer creates missing folders itself; this code creates folders only inside existing ones.
    fs::path parent = fs::absolute(wanted, ignored).parent_path();
    while (parent.has_relative_path() && !fs::is_directory(parent, ignored))
        parent = parent.parent_path();
    auto folder = profiler::os::createTemporaryFolder(parent / ".stepscope-");
    if (!folder)
        return profiler::fail<"experiment.no_folder",
                              "No folder can be created for the output of a measured training: {why}">(
            Error::Code::Unavailable, parent.string(),
            "set run.log_file and run.checkpoint_path to a place that you can write to",
            {{"why", std::strerror(errno)}});
    m_folders.push_back(std::move(*folder));
    return m_folders.back();
}

Result<void> ScratchFiles::redirect(config::TrainingConfig& config)
{
    for (const config::Knob& knob : config::knobs()) {
        const bool isFolder = knob.path == config::PathKind::NewFolder;
        if (knob.type != config::KnobType::Path || !(isFolder || knob.path == config::PathKind::NewFile))
            continue;
        const fs::path wanted = config.text(knob.key);
        if (wanted.empty() || config.unmetCondition(knob))
            continue;
        // The new folder is created inside an existing folder.
        const auto folder = folderFor(isFolder ? wanted / "files" : wanted);
        if (!folder)
            return tl::unexpected(folder.error());
        if (const auto set = config.set(knob.key, (*folder / (isFolder ? "files" : wanted.filename())).string()); !set)
            return tl::unexpected(configError(Error::Code::Invalid, set.error()));
    }
    return {};
}

} // namespace advisor
