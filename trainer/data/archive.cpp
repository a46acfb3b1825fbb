#include "trainer/data/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <numeric>
#include <optional>

namespace trainer::data {

using profiler::Error;
using profiler::Result;

namespace {

constexpr std::size_t kBlock = 64 * 1024;
constexpr std::size_t kMostFile = std::size_t{512} << 20; // of a sample in a tar file

} // namespace

void ArchiveReader::Close::operator()(::archive* archive) const
{
    archive_read_free(archive);
}

ArchiveReader::ArchiveReader(std::filesystem::path path) : m_path(std::move(path)), m_archive(archive_read_new()) {}

Error ArchiveReader::failed() const
{
    const char* why = archive_error_string(m_archive.get());
    return profiler::makeError<"data.archive.unreadable", "the archive cannot be read: {why}">(
        Error::Code::Malformed, m_path.string(), "copy or create it again", {{"why", why ? why : "unknown reason"}});
}

Result<ArchiveReader> ArchiveReader::open(const std::filesystem::path& path)
{
    ArchiveReader reader(path);
    ::archive* archive = reader.m_archive.get();
    if (!archive)
        return profiler::fail<"data.archive.memory", "out of memory while opening the archive">(Error::Code::Io,
                                                                                                path.string());
    archive_read_support_filter_all(archive);
    archive_read_support_format_tar(archive);
    archive_read_support_format_zip(archive);
    if (archive_read_open_filename(archive, path.c_str(), kBlock) != ARCHIVE_OK)
        return tl::unexpected(reader.failed());
    return reader;
}

Result<std::optional<std::string>> ArchiveReader::next()
{
    for (;;) {
        const int status = archive_read_next_header(m_archive.get(), &m_entry);
        if (status == ARCHIVE_EOF)
            return std::nullopt;
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
            return tl::unexpected(failed());
        const char* name = archive_entry_pathname(m_entry);
        if (name && archive_entry_filetype(m_entry) == AE_IFREG)
            return name;
    }
}

Result<void> ArchiveReader::read(std::vector<std::uint8_t>& out, std::size_t most)
{
    out.clear();
    for (;;) {
        const std::size_t have = out.size();
        if (have > most)
            return profiler::fail<"data.archive.large_file", "a file in the archive is larger than {most} MB">(
                Error::Code::Unsupported, m_path.string(), "split the file", {{"most", most >> 20}});
        out.resize(have + kBlock);
        const auto got = archive_read_data(m_archive.get(), out.data() + have, kBlock);
        out.resize(have + static_cast<std::size_t>(std::max<la_ssize_t>(got, 0)));
        if (got < 0)
            return tl::unexpected(failed());
        if (got == 0)
            return {};
    }
}

Result<void> writeTar(const std::filesystem::path& path, const std::vector<ArchiveFile>& files)
{
    const std::unique_ptr<::archive, int (*)(::archive*)> archive(archive_write_new(), archive_write_free);
    const auto failed = [&] {
        const int number = archive_errno(archive.get());
        return profiler::fail<"data.archive.unwritten", "the archive cannot be written: {why}">(
            number == ENOSPC ? Error::Code::NoSpace : Error::Code::Io, path.string(), {},
            {{"why", archive_error_string(archive.get())}});
    };
    archive_write_set_format_ustar(archive.get());
    if (archive_write_open_filename(archive.get(), path.c_str()) != ARCHIVE_OK)
        return failed();
    for (const ArchiveFile& file : files) {
        const std::unique_ptr<::archive_entry, void (*)(::archive_entry*)> entry(archive_entry_new(),
                                                                                 archive_entry_free);
        archive_entry_set_pathname(entry.get(), file.name.c_str());
        archive_entry_set_size(entry.get(), std::ssize(file.bytes));
        archive_entry_set_filetype(entry.get(), AE_IFREG);
        archive_entry_set_perm(entry.get(), 0644);
        if (archive_write_header(archive.get(), entry.get()) != ARCHIVE_OK ||
            archive_write_data(archive.get(), file.bytes.data(), file.bytes.size()) != std::ssize(file.bytes))
            return failed();
    }
    if (archive_write_close(archive.get()) != ARCHIVE_OK)
        return failed();
    return {};
}

namespace {

/// "a/0012" of "a/0012.jpg": files with the same key form one sample.
std::string keyOf(const std::string& name)
{
    const auto folder = name.rfind('/');
    return name.substr(0, name.find('.', folder == std::string::npos ? 0 : folder));
}

bool isImage(const std::string& name)
{
    return name.ends_with(".jpg") || name.ends_with(".jpeg") || name.ends_with(".png");
}

/// The undecoded files of a sample.
struct RawSample {
    std::string key;
    std::vector<std::uint8_t> image, label;
    bool hasImage = false, hasLabel = false;
};

/// Reads the samples of one split sequentially.
class ShardReader {
public:
    ShardReader(const TarShards& shards, std::int64_t id) : m_shards(shards), m_id(id) {}
    [[nodiscard]] std::int64_t id() const { return m_id; }

    /// Returns sample `index`; going back reopens the file that contains it.
    Result<const RawSample*> sample(std::int64_t index)
    {
        if (index < m_following - 1 || (m_archive && index >= m_last))
            m_archive.reset();
        if (m_archive && index == m_following - 1)
            return &m_sample;
        if (!m_archive)
            if (auto opened = openShardOf(index); !opened)
                return tl::unexpected(opened.error());
        while (m_following <= index)
            if (auto read = next(m_following == index); !read)
                return tl::unexpected(read.error());
        return &m_sample;
    }
    [[nodiscard]] std::string where() const { return m_path.string() + ":" + m_sample.key; }

private:
    Result<void> openShardOf(std::int64_t index)
    {
        std::size_t shard = 0;
        std::int64_t first = 0;
        while (index >= first + m_shards.samples[shard])
            first += m_shards.samples[shard++];
        m_path = m_shards.files[shard];
        auto opened = ArchiveReader::open(m_path);
        if (!opened)
            return tl::unexpected(opened.error());
        m_archive = std::move(*opened);
        m_following = first;
        m_last = first + m_shards.samples[shard];
        m_name.reset();
        return {};
    }

    /// Reads the next sample's files; their contents only if they are wanted.
    Result<void> next(bool wanted)
    {
        m_sample.hasImage = m_sample.hasLabel = false;
        m_sample.key.clear();
        for (;;) {
            if (!m_name) {
                auto name = m_archive->next();
                if (!name)
                    return tl::unexpected(name.error());
                m_name = std::move(*name);
            }
            if (!m_name || (!m_sample.key.empty() && keyOf(*m_name) != m_sample.key))
                break;
            m_sample.key = keyOf(*m_name);
            if (wanted)
                if (auto read = take(*m_name); !read)
                    return read;
            m_name.reset();
        }
        if (m_sample.key.empty())
            return profiler::fail<"data.tar.fewer_samples", "the file has fewer samples than when it was opened">(
                Error::Code::Malformed, m_path.string(), "do not change the file during the training");
        ++m_following;
        return {};
    }
    Result<void> take(const std::string& name)
    {
        const bool image = isImage(name), label = name.ends_with(".cls");
        if (!image && !label)
            return {};
        (image ? m_sample.hasImage : m_sample.hasLabel) = true;
        return m_archive->read(image ? m_sample.image : m_sample.label, kMostFile);
    }

    const TarShards& m_shards;
    std::int64_t m_id;
    std::filesystem::path m_path;
    std::optional<ArchiveReader> m_archive;
    std::optional<std::string> m_name; ///< first file of the next sample
    std::int64_t m_following = 0;      ///< index of the next sample
    std::int64_t m_last = 0;           ///< end of the current file's indices
    RawSample m_sample;
};

Result<std::int64_t> classOf(const RawSample& sample, std::int64_t classes)
{
    const auto wrong = [](profiler::Message what, std::string hint) {
        return tl::unexpected(Error{Error::Code::Malformed, std::move(what), {}, std::move(hint)});
    };
    if (!sample.hasImage || !sample.hasLabel)
        return wrong(sample.hasImage ? profiler::message<"data.tar.no_label", "the sample has no .cls file">()
                                     : profiler::message<"data.tar.no_image", "the sample has no image">(),
                     "add an image and a .cls file with the same base name");
    const std::string text(sample.label.begin(), sample.label.end());
    std::int64_t label = -1;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), label);
    if (failed != std::errc() || label < 0 || label >= classes)
        return wrong(profiler::message<"data.tar.no_class", "its class '{class}' is not a class from 0 to {most}">(
                         {{"class", text.substr(0, 20)}, {"most", classes - 1}}),
                     "correct it, or set dataset.classes to the number of classes");
    return label;
}

std::int64_t newId()
{
    static std::atomic<std::int64_t> last = 0;
    return ++last;
}

} // namespace

std::int64_t TarShards::total() const
{
    return std::accumulate(samples.begin(), samples.end(), std::int64_t{0});
}

Result<TarShards> countShards(std::vector<std::filesystem::path> files)
{
    TarShards shards{.files = std::move(files), .samples = {}};
    for (const auto& path : shards.files) {
        auto archive = ArchiveReader::open(path);
        if (!archive)
            return tl::unexpected(archive.error());
        std::string before;
        std::int64_t count = 0;
        for (auto name = archive->next();; name = archive->next()) {
            if (!name)
                return tl::unexpected(name.error());
            if (!*name)
                break;
            const std::string key = keyOf(**name);
            count += key != before ? 1 : 0;
            before = key;
        }
        shards.samples.push_back(count);
    }
    return shards;
}

TarStream::TarStream(TarShards train, TarShards validation, std::int64_t classes, const ImageView& view)
    : m_train(std::move(train)), m_validation(std::move(validation)), m_classes(classes), m_view(view),
      m_spec(imageSpec(3, view.edge, view.edge, classes)), m_id(newId())
{
    m_spec.augment.kind = BatchAugment::Kind::Crop;
}

Result<void> TarStream::load(Split split, std::int64_t index, std::uint64_t augmentSeed, const SampleOut& out,
                             const StageRecorder& stages) const
{
    // One reader per split: without workers, a thread alternates between both.
    thread_local std::array<std::unique_ptr<ShardReader>, 2> readers;
    auto& reader = readers[split == Split::Train ? 0 : 1];
    if (!reader || reader->id() != m_id)
        reader = std::make_unique<ShardReader>(of(split), m_id);
    Result<const RawSample*> sample;
    {
        StageTimer timer(stages, stages.read, index);
        sample = reader->sample(index);
        if (!sample)
            return tl::unexpected(sample.error());
        timer.setBytes(std::ssize((*sample)->image));
    }
    const auto label = classOf(**sample, m_classes);
    Result<void> loaded = label ? loadImage((*sample)->image, m_view, augmentSeed, index, out.input<float>(), stages)
                                : tl::unexpected(label.error());
    if (!loaded) {
        loaded.error().where = reader->where();
        return loaded;
    }
    out.setClass(*label);
    return {};
}

} // namespace trainer::data
