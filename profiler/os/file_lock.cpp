#include "profiler/os/file_lock.h"

#include "profiler/os/files.h"

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

int flagsOf(OwnFile::Use use)
{
    return O_CLOEXEC | (use == OwnFile::Use::Append ? O_WRONLY | O_APPEND : O_RDWR);
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
    const Descriptor descriptor = openToRead(file);
    return descriptor ? lockHolder(descriptor.get()) : LockHolder::Unknown;
}

bool isLockedForWriting(int descriptor, std::uint64_t offset, std::uint64_t bytes)
{
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(offset);
    lock.l_len = static_cast<off_t>(bytes);
    return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
}

std::optional<LockFile> LockFile::acquire(std::filesystem::path path)
{
    for (;;) {
        Descriptor descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (!descriptor)
            return std::nullopt;
        if (!lockWholeFile(descriptor.get())) {
            const int number = errno;
            descriptor.reset();
            errno = number == EACCES ? EAGAIN : number;
            return std::nullopt;
        }
        // A previous holder may have deleted the file between our open() and our lock; then no other process can see
        // our lock.
        if (isFileOf(descriptor.get(), path))
            return LockFile(std::move(descriptor), std::move(path));
    }
}

LockFile::LockFile(Descriptor descriptor, std::filesystem::path path)
    : m_descriptor(std::move(descriptor)), m_path(std::move(path))
{
}

LockFile::~LockFile()
{
    if (m_descriptor)
        unlink(m_path.c_str()); // before unlocking: otherwise another process could lock the file that is deleted
}

OwnFile::~OwnFile()
{
    close();
}

void OwnFile::close()
{
    if (isStillOurs())
        ::close(m_number);
    m_number = -1;
}

void OwnFile::lock()
{
    m_isLocked = lockWholeFile(m_number);
}

bool OwnFile::isStillOurs()
{
    const auto state = m_number >= 0 ? stateOf(m_number) : std::nullopt;
    if (!state)
        return false;
    m_names = state->names;
    return state->device == m_device && state->inode == m_inode;
}

bool OwnFile::create(const std::filesystem::path& path, Use use)
{
    m_use = use;
    m_number = ::open(path.c_str(), flagsOf(use) | O_CREAT | O_EXCL, 0666);
    const auto state = m_number >= 0 ? stateOf(m_number) : std::nullopt;
    if (!state)
        return false;
    m_device = state->device;
    m_inode = state->inode;
    m_names = state->names;
    return true;
}

int OwnFile::number(const std::filesystem::path& path)
{
    if (isStillOurs())
        return m_number;
    m_number = ::open(path.c_str(), flagsOf(m_use));
    if (m_number < 0)
        return m_number;
    if (isStillOurs()) {
        if (m_isLocked)
            lock();
        return m_number;
    }
    ::close(m_number); // another file has this name now
    m_number = -1;
    errno = ENOENT;
    return -1;
}

} // namespace profiler::os
