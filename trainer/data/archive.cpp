#include "trainer/data/archive.h"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <fmt/format.h>

namespace trainer::data {

using profiler::Error;
using profiler::Result;

namespace {
constexpr std::size_t kBlock = 64 * 1024;
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

} // namespace trainer::data
