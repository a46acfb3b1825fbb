#include "profiler/os/own_file.h"

#include "profiler/os/file_lock.h"
#include "profiler/os/files.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace profiler::os {

namespace {

int flagsOf(OwnFile::Use use)
{
    return O_CLOEXEC | (use == OwnFile::Use::Append ? O_WRONLY | O_APPEND : O_RDWR);
}

} // namespace

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
