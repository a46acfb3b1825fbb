#include "trainer/data/image_set.h"

#include "trainer/data/file_bytes.h"
#include "trainer/data/folder_lock.h"
#include "trainer/data/image_painter.h"
#include "trainer/data/image_set_writer.h"

#include <fmt/format.h>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <vector>

namespace trainer::data {

namespace fs = std::filesystem;

namespace {

using profiler::Error;
using profiler::Result;

// Written last: without it, the dataset may contain incomplete files.
constexpr const char* kMarker = ".complete";
// Increase it whenever the images change: datasets of different versions are separate.
constexpr int kVersion = 1;

/// True if `path` ends like a JPEG file: a crash of the machine can leave empty or truncated files.
bool isWholeJpeg(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    char end[2] = {};
    return in.seekg(-2, std::ios::end) && in.read(end, 2) && static_cast<unsigned char>(end[0]) == 0xff &&
           static_cast<unsigned char>(end[1]) == 0xd9;
}

/// Names of a folder's entries; empty if the folder does not exist.
std::unordered_set<std::string> namesIn(const fs::path& folder)
{
    std::unordered_set<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error))
        names.insert(at->path().filename().string());
    return names;
}

/// Images of the dataset that are missing from `folder`. Lists folders instead of checking each file: there may be
/// millions.
std::vector<std::int64_t> missingIn(const fs::path& folder, const ImageSet& set)
{
    std::error_code error;
    const bool trusted = fs::exists(folder / kMarker, error);
    std::vector<std::int64_t> missing;
    for (std::int64_t first = 0; first < set.classes; ++first) {
        const auto present = namesIn(folder / paintedClassName(first));
        for (std::int64_t index = first; index < set.samples; index += set.classes) {
            const fs::path file = present.empty() ? fs::path() : imageSetFile(set, index);
            if (present.empty() || !present.contains(file.filename().string()) ||
                (!trusted && !isWholeJpeg(folder / file)))
                missing.push_back(index);
        }
    }
    return missing;
}

bool isComplete(const fs::path& folder, const ImageSet& set)
{
    std::error_code error;
    return fs::exists(folder / kMarker, error) && missingIn(folder, set).empty();
}

Result<void> makeFolders(const fs::path& folder, const ImageSet& set)
{
    std::error_code error;
    for (std::int64_t index = 0; !error && index < set.classes; ++index)
        fs::create_directories(folder / paintedClassName(index), error);
    if (!error)
        return {};
    Error failed = fileError(error.value(), "the folder cannot be created", folder);
    failed.hint = "set dataset.path to a writable folder";
    return tl::unexpected(std::move(failed));
}

Result<void> fill(const fs::path& folder, const ImageSet& set, const OpenProgress& progress, std::stop_token stop)
{
    if (auto ok = makeFolders(folder, set); !ok)
        return ok;
    if (auto ok = writeImages(folder, set, missingIn(folder, set), progress, std::move(stop)); !ok)
        return ok;
    const std::string text = fmt::format("{} images, {} classes, {} px\n", set.samples, set.classes, set.edge);
    return writeFile(folder / kMarker, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

/// An existing dataset is repaired in place, because another process may be reading it; a new one is written to a
/// temporary folder.
Result<void> createOrRepair(const fs::path& folder, const ImageSet& set, const OpenProgress& progress,
                            std::stop_token stop)
{
    std::error_code error;
    if (fs::exists(folder, error))
        return fill(folder, set, progress, std::move(stop));
    const fs::path growing = folder.string() + ".partial";
    if (auto ok = fill(growing, set, progress, std::move(stop)); !ok) {
        if (ok.error().code == Error::Code::NoSpace)
            fs::remove_all(growing, error); // frees the disk space
        return ok;
    }
    fs::rename(growing, folder, error);
    if (error)
        return tl::unexpected(fileError(error.value(), "the folder cannot be renamed", growing));
    return {};
}

} // namespace

std::string ImageSet::key() const
{
    return fmt::format("painted-v{}-{}-images-{}-classes-{}-px", kVersion, samples, classes, edge);
}

Result<fs::path> makeImageSet(const fs::path& base, const ImageSet& set, const OpenProgress& progress,
                              std::stop_token stop)
{
    if (set.classes > kMostPaintedClasses || set.samples < set.classes)
        return profiler::fail<"data.images.few", "{images} images are not enough for {classes} classes">(
            Error::Code::Invalid, "dataset.samples, dataset.classes",
            fmt::format("use at least one image per class and at most {} classes", kMostPaintedClasses),
            {{"images", set.samples}, {"classes", set.classes}});
    const fs::path folder = base / set.key();
    if (isComplete(folder, set))
        return folder;
    std::error_code error;
    fs::create_directories(base, error);
    if (error) {
        Error failed = fileError(error.value(), "the folder cannot be created", base);
        failed.hint = "set dataset.path to a writable folder";
        return tl::unexpected(std::move(failed));
    }
    const auto lock = FolderLock::take(base / ("." + set.key() + ".lock"), progress, stop);
    if (!lock)
        return tl::unexpected(lock.error());
    if (isComplete(folder, set)) // by the process that held the lock
        return folder;
    if (auto ok = createOrRepair(folder, set, progress, std::move(stop)); !ok)
        return tl::unexpected(ok.error());
    return folder;
}

} // namespace trainer::data
