#pragma once

#include <filesystem>
#include <sys/stat.h>
#include <sys/types.h>

namespace profiler::wire {

/// A file that a recording keeps open in a program that is not ours. Such a program may close every file it finds open,
/// and get our descriptor's number for a file of its own: writing to that number, or closing it, would then hit the
/// program's file. One thread at a time.
class OwnFile {
public:
    OwnFile() = default;
    ~OwnFile();
    OwnFile(const OwnFile&) = delete;
    OwnFile& operator=(const OwnFile&) = delete;

    /// open(2). @return false, with errno
    bool open(const std::filesystem::path& path, int flags);
    /// Locks the file for as long as it is open; number() renews the lock where it has to open the file anew. Where the
    /// file system has no locks nothing happens.
    void lock();
    /// Closes the file; the lock goes with it.
    void close();
    /// The file's number, while it is still this file's; opened anew by its name where it is not.
    /// @param path  the file's name by now
    /// @return −1, with errno: it was closed, and there is no such file any more
    int number(const std::filesystem::path& path);
    /// No name leads to it any more. Of the last number().
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
