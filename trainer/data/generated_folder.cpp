#include "trainer/data/generated_folder.h"

#include "trainer/data/file_bytes.h"
#include "trainer/data/folder_lock.h"

#include <cstdlib>
#include <system_error>

namespace trainer::data {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

namespace {

constexpr const char* kHint = "set dataset.path to your own dataset, or XDG_CACHE_HOME to a writable folder";

/// Fills a temporary folder and renames it. An incomplete folder is removed, because there is no record of how complete
/// it is.
Result<void> grow(const fs::path& folder, const SetWriter& write)
{
    const fs::path growing = folder.string() + ".partial";
    std::error_code error;
    fs::remove_all(growing, error);
    if (fs::create_directories(growing, error); error) {
        Error failed = fileError(error.value(), "the folder cannot be created", growing);
        failed.hint = kHint;
        return tl::unexpected(std::move(failed));
    }
    if (auto written = write(growing); !written) {
        fs::remove_all(growing, error);
        return written;
    }
    if (fs::rename(growing, folder, error); error)
        return tl::unexpected(fileError(error.value(), "the folder cannot be renamed", growing));
    return {};
}

} // namespace

Error cancelled(const fs::path& where)
{
    return profiler::makeError<"data.cancelled", "cancelled">(Error::Code::Cancelled, where.string());
}

Result<fs::path> cacheFolder()
{
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && fs::path(cache).is_absolute())
        return fs::path(cache) / "stepscope" / "datasets";
    if (const char* home = std::getenv("HOME"); home && fs::path(home).is_absolute())
        return fs::path(home) / ".cache" / "stepscope" / "datasets";
    return profiler::fail<"data.generated.no_home", "there is no folder for generated data: HOME is not set">(
        Error::Code::NotFound, "dataset.path", "set it to a writable folder");
}

Result<fs::path> makeOnce(const std::string& key, const SetWriter& write, const OpenProgress& progress,
                          std::stop_token stop)
{
    const auto base = cacheFolder();
    if (!base)
        return base;
    const fs::path folder = *base / key;
    std::error_code error;
    if (fs::exists(folder, error))
        return folder;
    if (fs::create_directories(*base, error); error) {
        Error failed = fileError(error.value(), "the folder cannot be created", *base);
        failed.hint = kHint;
        return tl::unexpected(std::move(failed));
    }
    const auto lock = FolderLock::take(*base / ("." + key + ".lock"), progress, stop);
    if (!lock)
        return tl::unexpected(lock.error());
    if (fs::exists(folder, error)) // by the process that held the lock
        return folder;
    if (progress)
        progress("generating samples", 0, 0);
    if (auto grown = grow(folder, write); !grown)
        return tl::unexpected(grown.error());
    return folder;
}

Result<fs::path> givenOrGenerated(const config::TrainingConfig& config, const std::string& key, const SetWriter& write,
                                  const OpenProgress& progress, std::stop_token stop)
{
    if (const std::string& given = config[config::key::datasetPath]; !given.empty())
        return fs::path(given);
    return makeOnce(key, write, progress, std::move(stop));
}

} // namespace trainer::data
