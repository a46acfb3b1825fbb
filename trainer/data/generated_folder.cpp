#include "trainer/data/generated_folder.h"

#include "profiler/os/file_lock.h"
#include "profiler/os/files.h"
#include "trainer/data/file_bytes.h"
#include "trainer/data/image_decoder.h"
#include "trainer/data/image_painter.h"
#include "trainer/data/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <vector>

namespace trainer::data {

namespace fs = std::filesystem;
namespace os = profiler::os;
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

Result<FolderLock> FolderLock::take(const fs::path& file, const OpenProgress& progress, std::stop_token stop)
{
    FolderLock lock(os::openToAppend(file));
    if (!lock.m_file)
        return tl::unexpected(fileError(errno, "the lock file cannot be created", file));
    while (!os::lockWholeFile(lock.m_file.get())) {
        if (errno != EAGAIN && errno != EACCES)
            break;
        if (stop.stop_requested())
            return tl::unexpected(cancelled(file));
        if (progress)
            progress("waiting for another training that writes the same images", 0, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return lock;
}

namespace {

constexpr int kQuality = 90;
constexpr std::uint64_t kSeed = 20240229;     // independent of run.seed: runs with different seeds share the dataset
constexpr std::int64_t kImagesPerThread = 16; // a thread only pays off for at least this many images
constexpr auto kProgressEvery = std::chrono::milliseconds(100);
constexpr std::int64_t kDiskBlock = 4096;

using File = std::vector<std::uint8_t>;

Result<File> makeImage(const ImageSet& set, std::int64_t index, RgbImage& canvas)
{
    paintImage(index % set.classes, sampleSeed(kSeed, 0, index), set.edge, canvas);
    return encodeJpeg(canvas, kQuality);
}

/// Disk space for `count` files of this size.
std::int64_t bytesFor(const File& file, std::int64_t count)
{
    return (std::ssize(file) + kDiskBlock - 1) / kDiskBlock * kDiskBlock * count;
}

Error noSpace(std::int64_t needed, const fs::path& folder, const std::string& what)
{
    return profiler::makeError<"data.images.no_space", "{what}: the images need about {needed} MB">(
        Error::Code::NoSpace, folder.string(),
        "free some space, choose another folder with dataset.path, or reduce dataset.samples or dataset.source_size",
        {{"what", what}, {"needed", needed / 1'000'000 + 1}});
}

/// Checks the space first, so that the disk does not fill up.
Result<std::int64_t> checkSpace(const fs::path& folder, const ImageSet& set, const std::vector<std::int64_t>& indices)
{
    RgbImage canvas;
    const auto image = makeImage(set, indices.front(), canvas);
    if (!image)
        return tl::unexpected(image.error());
    const std::int64_t needed = bytesFor(*image, std::ssize(indices));
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    if (!error && space.available < static_cast<std::uintmax_t>(needed))
        return tl::unexpected(
            noSpace(needed, folder, fmt::format("the disk has only {} MB free", space.available / 1'000'000)));
    return needed;
}

/// Threads that write images, and the state they share with the thread that started them.
class Writing {
public:
    Writing(const fs::path& folder, const ImageSet& set, const std::vector<std::int64_t>& indices)
        : m_folder(folder), m_set(set), m_indices(indices)
    {
    }

    Result<void> run(const OpenProgress& progress, const std::stop_token& stop)
    {
        const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
        const auto count = std::clamp<std::int64_t>(std::ssize(m_indices) / kImagesPerThread, 1, cores);
        m_working = static_cast<int>(count);
        std::vector<std::jthread> threads;
        for (std::int64_t i = 0; i < count; ++i)
            threads.emplace_back([this] { write(); });
        std::unique_lock lock(m_mutex);
        while (!m_ended.wait_for(lock, kProgressEvery, [this] { return m_working == 0; })) {
            if (stop.stop_requested())
                m_cancelled = true;
            lock.unlock(); // the callback must not block the writers
            if (progress)
                progress("writing images", m_done, std::ssize(m_indices));
            lock.lock();
        }
        if (m_error)
            return tl::unexpected(*m_error);
        if (m_cancelled)
            return profiler::fail<"data.cancelled", "cancelled">(Error::Code::Cancelled, m_folder.string());
        return {};
    }

private:
    void write()
    {
        RgbImage canvas;
        std::optional<Error> failed;
        while (!m_cancelled && !failed) {
            const std::int64_t next = m_next++;
            if (next >= std::ssize(m_indices))
                break;
            if (auto ok = writeOne(m_indices[static_cast<std::size_t>(next)], canvas); ok)
                ++m_done;
            else
                failed = std::move(ok.error());
        }
        const std::lock_guard lock(m_mutex);
        if (failed) {
            m_cancelled = true;
            if (!m_error)
                m_error = std::move(failed);
        }
        if (--m_working == 0)
            m_ended.notify_all();
    }
    Result<void> writeOne(std::int64_t index, RgbImage& canvas) const
    {
        const auto image = makeImage(m_set, index, canvas);
        if (!image)
            return tl::unexpected(image.error());
        return writeFile(m_folder / imageSetFile(m_set, index), *image);
    }

    const fs::path& m_folder;
    const ImageSet& m_set;
    const std::vector<std::int64_t>& m_indices;
    std::atomic<std::int64_t> m_next = 0, m_done = 0;
    std::atomic<bool> m_cancelled = false;
    std::mutex m_mutex; ///< not held while images are generated
    std::condition_variable m_ended;
    int m_working = 0;
    std::optional<Error> m_error;
};

/// Paints and writes images into existing class folders. Stops at the first error; Cancelled after a stop. Written
/// files are always complete.
Result<void> writeImages(const fs::path& folder, const ImageSet& set, const std::vector<std::int64_t>& indices,
                         const OpenProgress& progress, std::stop_token stop)
{
    if (indices.empty())
        return {};
    const auto needed = checkSpace(folder, set, indices);
    if (!needed)
        return tl::unexpected(needed.error());
    auto ok = Writing(folder, set, indices).run(progress, stop);
    if (!ok && ok.error().code == Error::Code::NoSpace)
        return tl::unexpected(noSpace(*needed, folder, "the disk is full"));
    return ok;
}

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

fs::path imageSetFile(const ImageSet& set, std::int64_t index)
{
    return fs::path(paintedClassName(index % set.classes)) / fmt::format("{:06}.jpg", index);
}

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
