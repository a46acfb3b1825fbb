#include "trainer/data/folder_lock.h"

#include "profiler/os/file_lock.h"
#include "profiler/os/files.h"
#include "trainer/data/file_bytes.h"

#include <cerrno>
#include <chrono>
#include <thread>

namespace trainer::data {

namespace os = profiler::os;

profiler::Result<FolderLock> FolderLock::take(const std::filesystem::path& file, const OpenProgress& progress,
                                              std::stop_token stop)
{
    FolderLock lock(os::openToAppend(file));
    if (!lock.m_file)
        return tl::unexpected(fileError(errno, "the lock file cannot be created", file));
    while (!os::lockWholeFile(lock.m_file.get())) {
        if (errno != EAGAIN && errno != EACCES)
            break;
        if (stop.stop_requested())
            return profiler::fail<"data.cancelled", "cancelled">(profiler::Error::Code::Cancelled, file.string());
        if (progress)
            progress("waiting for another training that writes the same images", 0, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return lock;
}

} // namespace trainer::data
