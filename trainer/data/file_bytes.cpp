#include "trainer/data/file_bytes.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace trainer::data {

namespace {

using profiler::Error;

constexpr std::int64_t kMostBytes = std::int64_t{512} << 20;

/// Closes its descriptor.
class Descriptor {
public:
    explicit Descriptor(int fd) : m_fd(fd) {}
    ~Descriptor()
    {
        if (m_fd >= 0)
            ::close(m_fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const { return m_fd; }
    /// Some file systems report a full disk only on close.
    [[nodiscard]] int closeNow()
    {
        const int status = ::close(m_fd);
        m_fd = -1;
        return status;
    }

private:
    int m_fd;
};

/// @return errno, or 0 if everything was written
int writeAll(int fd, std::span<const std::uint8_t> bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

} // namespace

Error fileError(int errorNumber, const std::string& doing, const std::filesystem::path& path)
{
    Error::Code code = Error::Code::Io;
    if (errorNumber == ENOENT)
        code = Error::Code::NotFound;
    else if (errorNumber == EACCES || errorNumber == EPERM || errorNumber == EROFS)
        code = Error::Code::Permission;
    else if (errorNumber == ENOSPC || errorNumber == EDQUOT)
        code = Error::Code::NoSpace;
    return profiler::makeError<"data.file.failed", "{doing}: {why}">(
        code, path.string(), {}, {{"doing", doing}, {"why", std::generic_category().message(errorNumber)}});
}

profiler::Result<void> readFile(const std::filesystem::path& path, std::vector<std::uint8_t>& out)
{
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
        return tl::unexpected(fileError(errno, "the file cannot be read", path));
    if (!S_ISREG(status.st_mode))
        return profiler::fail<"data.file.not_regular", "this is not a regular "
                                                       "file">(Error::Code::Invalid, path.string());
    if (status.st_size > kMostBytes)
        return profiler::fail<"data.file.too_large", "the file is too large: {size} MB; at most {most} MB are allowed">(
            Error::Code::Unsupported, path.string(), {}, {{"size", status.st_size >> 20}, {"most", kMostBytes >> 20}});
    out.resize(static_cast<std::size_t>(status.st_size));
    std::size_t have = 0;
    while (have < out.size()) {
        const ssize_t got = ::read(file.get(), out.data() + have, out.size() - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tl::unexpected(fileError(errno, "the file cannot be read", path));
        if (got == 0)
            break; // the file was truncated while reading: its decoder reports the error
        have += static_cast<std::size_t>(got);
    }
    out.resize(have);
    return {};
}

profiler::Result<void> writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes)
{
    const std::string temporary = path.string() + ".tmp";
    Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.get() < 0)
        return tl::unexpected(fileError(errno, "the file cannot be written", path));
    int failed = writeAll(file.get(), bytes);
    if (file.closeNow() != 0 && failed == 0)
        failed = errno;
    if (failed == 0 && ::rename(temporary.c_str(), path.c_str()) != 0)
        failed = errno;
    if (failed == 0)
        return {};
    ::unlink(temporary.c_str());
    return tl::unexpected(fileError(failed, "the file cannot be written", path));
}

} // namespace trainer::data
