#pragma once

#include "profiler/model/result.h"
#include "profiler/os/files.h"
#include "trainer/config/training_config.h"
#include "trainer/data/dataset.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

/// Folders of generated datasets, which are written once per user and machine: of any files, and of painted images.
namespace trainer::data {

/// Folder of generated datasets if the user chose none, as in the XDG base directory specification: relative paths are
/// ignored.
profiler::Result<std::filesystem::path> cacheFolder();

/// Writes the files of a dataset into a new folder.
using SetWriter = std::function<profiler::Result<void>(const std::filesystem::path& folder)>;

/// Creates cacheFolder()/`key` unless it exists, and returns it. The files are written to a temporary folder that is
/// renamed at the end, so that the result is complete or missing; a second process that needs the same dataset waits
/// for the first. The remains of an interrupted process are deleted.
profiler::Result<std::filesystem::path> makeOnce(const std::string& key, const SetWriter& write,
                                                 const OpenProgress& progress, std::stop_token stop);

/// dataset.path, or a generated dataset if it is empty.
/// @param key  identifies the generated data, including everything that they depend on
profiler::Result<std::filesystem::path> givenOrGenerated(const config::TrainingConfig& config, const std::string& key,
                                                         const SetWriter& write, const OpenProgress& progress,
                                                         std::stop_token stop);

/// The error of cancelled work.
profiler::Error cancelled(const std::filesystem::path& where);

/// A lock between processes: two trainers that start at the same time must not write the same files. The kernel
/// releases it if its holder dies.
class FolderLock {
public:
    /// Waits for the lock. On a file system without locks, it succeeds at once.
    static profiler::Result<FolderLock> take(const std::filesystem::path& file, const OpenProgress& progress,
                                             std::stop_token stop);

private:
    explicit FolderLock(profiler::os::Descriptor file) : m_file(std::move(file)) {}
    profiler::os::Descriptor m_file;
};

/// A generated dataset of JPEG files: painted images of `classes` classes, with the same files on every machine.
struct ImageSet {
    std::int64_t samples = 0, classes = 0;
    int edge = 0; ///< of the files, px

    /// Name of the folder: "painted-v1-2000-images-10-classes-256-px".
    [[nodiscard]] std::string key() const;
};

/// Creates `base`/key() unless it exists and is complete, and returns it. Missing files are written with one thread per
/// core. A new dataset is written to a temporary folder that is renamed at the end; an interrupted one is continued. A
/// second process that needs the same dataset waits for the first. Errors: NoSpace says how much space is needed and
/// removes the incomplete dataset; Cancelled keeps the files for the next time.
profiler::Result<std::filesystem::path> makeImageSet(const std::filesystem::path& base, const ImageSet& set,
                                                     const OpenProgress& progress, std::stop_token stop);

/// "0003_cross_…/000013.jpg": path of image `index` within the dataset's folder.
std::filesystem::path imageSetFile(const ImageSet& set, std::int64_t index);

} // namespace trainer::data
