#include "trainer/data/image_set_writer.h"

#include "trainer/data/file_bytes.h"
#include "trainer/data/image_painter.h"
#include "trainer/data/jpeg_codec.h"
#include "trainer/data/random.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <thread>

namespace trainer::data {

namespace fs = std::filesystem;

namespace {

using profiler::Error;
using profiler::Result;

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

} // namespace

fs::path imageSetFile(const ImageSet& set, std::int64_t index)
{
    return fs::path(paintedClassName(index % set.classes)) / fmt::format("{:06}.jpg", index);
}

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

} // namespace trainer::data
