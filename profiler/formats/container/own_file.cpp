#include "profiler/formats/container/own_file.h"

#include "profiler/os/file_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace profiler::wire {

namespace {
constexpr mode_t kMode = 0666;
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
    m_isLocked = os::lockWholeFile(m_number);
}

bool OwnFile::isStillOurs()
{
    return m_number >= 0 && fstat(m_number, &m_state) == 0 && m_state.st_dev == m_device && m_state.st_ino == m_inode;
}

bool OwnFile::open(const std::filesystem::path& path, int flags)
{
    m_number = ::open(path.c_str(), flags | O_CLOEXEC, kMode);
    if (m_number < 0 || fstat(m_number, &m_state) != 0)
        return false;
    m_flags = flags & ~(O_CREAT | O_EXCL | O_TRUNC);
    m_device = m_state.st_dev;
    m_inode = m_state.st_ino;
    return true;
}

int OwnFile::number(const std::filesystem::path& path)
{
    if (isStillOurs())
        return m_number;
    m_number = ::open(path.c_str(), m_flags | O_CLOEXEC);
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

} // namespace profiler::wire
