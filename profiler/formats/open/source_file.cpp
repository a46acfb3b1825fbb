#include "profiler/formats/open/source_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace profiler::formats {

Error readError(int number, const std::filesystem::path& path)
{
    auto error = makeError<"file.unreadable", "cannot read the file: {why}">(
        Error::Code::Io, path.string(), {}, {{"why", std::generic_category().message(number)}});
    if (number == EACCES || number == EPERM) {
        error.code = Error::Code::Permission;
        error.hint = "ask the owner of the file for read permission";
    } else if (number == ENOENT || number == ENOTDIR) {
        error.code = Error::Code::NotFound;
        error.hint = "check the path";
    }
    return error;
}

Result<SourceFile> SourceFile::open(const std::filesystem::path& path)
{
    // Without O_NONBLOCK, opening a FIFO without a writer would hang.
    SourceFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat status {};
    if (file.m_descriptor < 0 || ::fstat(file.m_descriptor, &status) != 0)
        return tl::unexpected(readError(errno, path));
    if (!S_ISREG(status.st_mode)) {
        if (S_ISDIR(status.st_mode))
            return fail<"file.folder", "this is a folder, not a file">(Error::Code::Invalid, path.string(),
                                                                       "choose a file in it");
        return fail<"file.irregular", "this is not a regular file">(Error::Code::Invalid, path.string(),
                                                                    "copy its content into a file first");
    }
    file.m_size = static_cast<std::uint64_t>(status.st_size);
    return file;
}

SourceFile::SourceFile(SourceFile&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)), m_size(other.m_size)
{
}

SourceFile& SourceFile::operator=(SourceFile&& other) noexcept
{
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_size, other.m_size);
    return *this;
}

SourceFile::~SourceFile()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

std::size_t SourceFile::read(std::uint64_t offset, std::span<char> out, int& error) const
{
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t got =
            ::pread(m_descriptor, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            error = errno;
        if (got <= 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

} // namespace profiler::formats
