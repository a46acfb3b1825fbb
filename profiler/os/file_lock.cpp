#include "profiler/os/file_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace profiler::os {

namespace {

struct flock wholeFile()
{
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock; // from 0, length 0: up to the end of the file, however far it moves
}

bool isFileOf(int descriptor, const std::filesystem::path& path)
{
    struct stat open {
    }, named{};
    return fstat(descriptor, &open) == 0 && stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

} // namespace

bool lockWholeFile(int descriptor)
{
    struct flock lock = wholeFile();
    return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

LockHolder lockHolder(int descriptor)
{
    struct flock lock = wholeFile();
    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0)
        return LockHolder::Unknown;
    return lock.l_type == F_UNLCK ? LockHolder::Nobody : LockHolder::Somebody;
}

LockHolder lockHolder(const std::filesystem::path& file)
{
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return LockHolder::Unknown;
    const LockHolder holder = lockHolder(descriptor);
    close(descriptor);
    return holder;
}

std::optional<LockFile> LockFile::acquire(std::filesystem::path path)
{
    for (;;) {
        const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (descriptor < 0)
            return std::nullopt;
        if (!lockWholeFile(descriptor)) {
            const int number = errno;
            close(descriptor);
            errno = number == EACCES ? EAGAIN : number;
            return std::nullopt;
        }
        // A previous holder may have deleted the file between our open() and our lock; then no other process can see
        // our lock.
        if (isFileOf(descriptor, path))
            return LockFile(descriptor, std::move(path));
        close(descriptor);
    }
}

LockFile::LockFile(int descriptor, std::filesystem::path path) : m_descriptor(descriptor), m_path(std::move(path)) {}

LockFile::LockFile(LockFile&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)), m_path(std::move(other.m_path))
{
}

LockFile::~LockFile()
{
    if (m_descriptor < 0)
        return;
    unlink(m_path.c_str()); // before unlocking, so that nobody locks a file that is about to be deleted
    close(m_descriptor);
}

} // namespace profiler::os
