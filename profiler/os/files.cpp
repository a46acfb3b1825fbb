#include "profiler/os/files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace profiler::os {

namespace {

constexpr mode_t kMode = 0666; // reduced by the user's umask

Descriptor opened(const std::filesystem::path& path, int flags)
{
    return Descriptor(::open(path.c_str(), flags | O_CLOEXEC, kMode));
}

std::span<const std::byte> bytesOf(std::string_view text)
{
    return std::as_bytes(std::span(text));
}

/// Calls `put`, with the number of bytes that are written, until all of them are.
template <class Put>
Transfer writeUntil(std::size_t bytes, const Put& put)
{
    Transfer written;
    while (written.bytes < bytes) {
        const ssize_t done = put(written.bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            written.error = done < 0 ? errno : ENOSPC;
            break;
        }
        written.bytes += static_cast<std::size_t>(done);
    }
    return written;
}

/// A name that processes of other machines and containers, which share the folder but not the process ids, do not use.
std::filesystem::path temporaryName(const std::filesystem::path& path)
{
    unsigned random = 0;
    static_cast<void>(::getrandom(&random, sizeof random, 0)); // create() tries again if the name exists
    std::array<char, 24> suffix{};
    std::snprintf(suffix.data(), suffix.size(), ".part-%08x", random);
    return path.string() + suffix.data();
}

} // namespace

int Descriptor::close()
{
    return m_descriptor < 0 || ::close(release()) == 0 ? 0 : errno;
}

Descriptor aboveStandardStreams(int descriptor)
{
    if (descriptor < 0 || descriptor > 2)
        return Descriptor(descriptor);
    const int higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    const int number = errno;
    ::close(descriptor);
    errno = number;
    return Descriptor(higher);
}

Descriptor openToRead(const std::filesystem::path& path)
{
    return opened(path, O_RDONLY | O_NONBLOCK);
}

Descriptor openToAppend(const std::filesystem::path& path)
{
    return opened(path, O_WRONLY | O_CREAT | O_APPEND);
}

Descriptor openToReplace(const std::filesystem::path& path)
{
    return opened(path, O_WRONLY | O_CREAT | O_TRUNC);
}

Descriptor openUnnamed(const std::filesystem::path& folder)
{
    // Unlike O_TMPFILE, works on every file system, and tools such as lsof still show the name.
    auto file = createTemporaryFile(folder / "stepscope-", {});
    if (!file)
        return {};
    ::unlink(file->path.c_str());
    return std::move(file->file);
}

std::optional<TemporaryFile> createTemporaryFile(const std::filesystem::path& prefix, std::string_view suffix)
{
    std::string name = prefix.string() + "XXXXXX" + std::string(suffix);
    Descriptor file(::mkostemps(name.data(), static_cast<int>(suffix.size()), O_CLOEXEC));
    if (!file)
        return std::nullopt;
    return TemporaryFile{std::move(file), std::move(name)};
}

std::optional<std::filesystem::path> createTemporaryFolder(const std::filesystem::path& prefix)
{
    std::string name = prefix.string() + "XXXXXX";
    if (!::mkdtemp(name.data()))
        return std::nullopt;
    return name;
}

std::filesystem::path temporaryPath(std::string_view name)
{
    std::error_code failed;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
    return (failed ? std::filesystem::path("/tmp") : folder) / name;
}

TemporaryFolder::TemporaryFolder(const std::filesystem::path& prefix)
    : m_path(createTemporaryFolder(prefix).value_or(std::filesystem::path()))
{
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    if (!m_path.empty())
        std::filesystem::remove_all(m_path, ignored);
}

Transfer readAt(int file, std::uint64_t offset, std::span<std::byte> into)
{
    Transfer read;
    while (read.bytes < into.size()) {
        const ssize_t got =
            ::pread(file, into.data() + read.bytes, into.size() - read.bytes, static_cast<off_t>(offset + read.bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            read.error = errno;
        if (got <= 0)
            break;
        read.bytes += static_cast<std::size_t>(got);
    }
    return read;
}

Transfer writeAll(int file, std::span<const std::byte> first, std::span<const std::byte> second)
{
    return writeUntil(first.size() + second.size(), [&](std::size_t written) {
        const auto head = first.subspan(std::min(written, first.size()));
        const auto tail = second.subspan(written > first.size() ? written - first.size() : 0);
        const std::array<iovec, 2> parts = {iovec{const_cast<std::byte*>(head.data()), head.size()},
                                            iovec{const_cast<std::byte*>(tail.data()), tail.size()}};
        return ::writev(file, parts.data(), parts.size());
    });
}

Transfer writeAll(int file, std::string_view text)
{
    return writeAll(file, bytesOf(text));
}

Transfer writeAllAt(int file, std::uint64_t offset, std::span<const std::byte> bytes)
{
    return writeUntil(bytes.size(), [&](std::size_t written) {
        return ::pwrite(file, bytes.data() + written, bytes.size() - written, static_cast<off_t>(offset + written));
    });
}

std::optional<std::string> readFile(const std::filesystem::path& path, std::size_t most)
{
    const Descriptor file = openToRead(path);
    if (!file)
        return std::nullopt;
    std::string text;
    std::array<char, 8192> bytes; // NOLINT: filled by read
    while (text.size() < most) {
        const ssize_t got = ::read(file.get(), bytes.data(), std::min(bytes.size(), most - text.size()));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return std::nullopt;
        if (got == 0)
            break;
        text.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return text;
}

std::optional<FileState> stateOf(int file)
{
    struct stat found {};
    if (::fstat(file, &found) != 0)
        return std::nullopt;
    FileState state;
    state.kind = S_ISREG(found.st_mode)   ? FileState::Kind::Regular
                 : S_ISDIR(found.st_mode) ? FileState::Kind::Folder
                                          : FileState::Kind::Other;
    state.bytes = static_cast<std::uint64_t>(std::max<off_t>(found.st_size, 0));
    state.device = found.st_dev;
    state.inode = found.st_ino;
    state.names = found.st_nlink;
    state.modified = std::chrono::seconds(found.st_mtim.tv_sec) + std::chrono::nanoseconds(found.st_mtim.tv_nsec);
    return state;
}

int resize(int file, std::uint64_t bytes)
{
    for (;;) {
        if (::ftruncate(file, static_cast<off_t>(bytes)) == 0)
            return 0;
        if (errno != EINTR)
            return errno;
    }
}

int reserve(int file, std::uint64_t offset, std::uint64_t bytes)
{
    for (;;)
        if (const int error = ::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
            error != EINTR)
            return error;
}

int renameToNew(const std::filesystem::path& from, const std::filesystem::path& to)
{
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    // If the file system lacks that flag: creates a second link, whose name must be new, and removes the first.
    if (::link(from.c_str(), to.c_str()) != 0)
        return errno;
    ::unlink(from.c_str());
    return 0;
}

bool canRead(const std::filesystem::path& path)
{
    return ::access(path.c_str(), R_OK) == 0;
}

bool canWrite(const std::filesystem::path& path)
{
    return ::access(path.c_str(), W_OK) == 0;
}

bool canExecute(const std::filesystem::path& path)
{
    return ::access(path.c_str(), X_OK) == 0;
}

std::optional<ReplacementFile> ReplacementFile::create(std::filesystem::path path)
{
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        auto temporary = temporaryName(path);
        Descriptor file(::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (file)
            return ReplacementFile(std::move(file), std::move(temporary), std::move(path));
        if (errno != EEXIST)
            break;
    }
    return std::nullopt;
}

ReplacementFile::ReplacementFile(Descriptor file, std::filesystem::path temporary, std::filesystem::path path)
    : m_file(std::move(file)), m_temporary(std::move(temporary)), m_path(std::move(path))
{
}

ReplacementFile::ReplacementFile(ReplacementFile&& other) noexcept
    : m_file(std::move(other.m_file)), m_temporary(std::exchange(other.m_temporary, {})),
      m_path(std::move(other.m_path))
{
}

ReplacementFile& ReplacementFile::operator=(ReplacementFile&& other) noexcept
{
    std::swap(m_file, other.m_file);
    std::swap(m_temporary, other.m_temporary);
    std::swap(m_path, other.m_path);
    return *this;
}

ReplacementFile::~ReplacementFile()
{
    if (!m_temporary.empty())
        ::unlink(m_temporary.c_str());
}

int ReplacementFile::commit()
{
    // Some file systems of other machines cannot sync (EINVAL).
    if (::fsync(m_file.get()) != 0 && errno != EINVAL)
        return errno;
    if (const int error = m_file.close())
        return error;
    if (::rename(m_temporary.c_str(), m_path.c_str()) != 0)
        return errno;
    m_temporary.clear();
    return 0;
}

} // namespace profiler::os
