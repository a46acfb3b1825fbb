#pragma once

#include <cstdint>
#include <filesystem>

namespace profiler::os {

/// A file that a recording keeps open in a program that is not ours. The program may close all its file descriptors and
/// reuse our descriptor's number for its own file. Writing to or closing that number would then damage the program's
/// file. Used by one thread at a time.
class OwnFile {
public:
    enum class Use {
        Append, ///< for writing, always at its end
        Map     ///< for reading and writing
    };

    OwnFile() = default;
    ~OwnFile();
    OwnFile(const OwnFile&) = delete;
    OwnFile& operator=(const OwnFile&) = delete;

    /// Creates a file that must not exist yet. @return false, with errno set
    bool create(const std::filesystem::path& path, Use use);
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
    [[nodiscard]] bool isDeleted() const { return m_names == 0; }

private:
    bool isStillOurs();

    bool m_isLocked = false;
    int m_number = -1;
    Use m_use = Use::Append;
    std::uint64_t m_device = 0, m_inode = 0, m_names = 0;
};

} // namespace profiler::os
