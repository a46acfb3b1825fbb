#include "trainer/data/folder_lock.h"

#include "trainer/data/file_bytes.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace trainer::data {

profiler::Result<FolderLock> FolderLock::take(const std::filesystem::path& file, const OpenProgress& progress,
                                              std::stop_token stop)
{
    FolderLock lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (lock.m_fd < 0)
        return tl::unexpected(fileError(errno, "the lock file cannot be created", file));
    while (::flock(lock.m_fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        if (stop.stop_requested())
            return profiler::fail<"data.cancelled", "cancelled">(profiler::Error::Code::Cancelled, file.string());
        if (progress)
            progress("waiting for another training that writes the same images", 0, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return lock;
}

FolderLock::~FolderLock()
{
    if (m_fd >= 0)
        ::close(m_fd);
}

} // namespace trainer::data
