#pragma once

#include <filesystem>
#include <sys/stat.h>
#include <sys/types.h>

namespace profiler::wire {

/// A file that a recording keeps open in a program that is not ours. The program may close all its file descriptors and
/// reuse our descriptor's number for its own file. Writing to or closing that number would then damage the program's
/// file. Used by one thread at a time.
class OwnFile {
public:
    OwnFile() = default;
    ~OwnFile();
    OwnFile(const OwnFile&) = delete;
    OwnFile& operator=(const OwnFile&) = delete;

    /// open(2). @return false, with errno set
    bool open(const std::filesystem::path& path, int flags);
    /// Locks the file while it is open; number() locks it again after reopening it. Does nothing if the file system has
    /// no locks.
    void lock();
    /// Closes the file, which releases the lock.
    void close();
    /// The file descriptor, if it still refers to this file; otherwise the file is reopened by name.
    /// @param path  the current name of the file
    /// @return −1, with errno set: the descriptor was closed and the file no longer exists
    int number(const std::filesystem::path& path);
    /// True if no name refers to the file any more, as of the last number().
    [[nodiscard]] bool isDeleted() const { return m_state.st_nlink == 0; }

private:
    bool isStillOurs();

    bool m_isLocked = false;
    int m_number = -1, m_flags = 0;
    dev_t m_device = 0;
    ino_t m_inode = 0;
    struct stat m_state {};
};

} // namespace profiler::wire
