#pragma once

#include "profiler/os/files.h"

#include <cstdint>
#include <filesystem>
#include <optional>

/// Locks on whole files, and files that a recording holds open and locked. The kernel releases a lock when its owner
/// closes the file or ends, for whatever reason: a lock proves that a writer is alive, which a process id does not (ids
/// are reused, mean something else in another pid namespace, and outlive a reboot). The locks are open-file-description
/// locks (fcntl(2), F_OFD_SETLK): they also work between two threads of one process and over NFS, and children share
/// them after fork until they close the file.
namespace profiler::os {

/// Whether somebody holds the lock on a file. Unknown: the file has been removed, or its file system does not support
/// locks.
enum class LockHolder { Nobody, Somebody, Unknown };

/// Locks the whole file that is open for writing as `descriptor`, without waiting.
/// @return false, with errno set, if somebody holds the lock (EAGAIN) or the file system does not support locks
bool lockWholeFile(int descriptor);
/// @param descriptor  open for reading; a lock that it holds itself does not count
LockHolder lockHolder(int descriptor);
LockHolder lockHolder(const std::filesystem::path& file);
/// Whether another program holds a lock for writing (fcntl(2)) on a part of a file.
/// @param descriptor  open for reading
bool isLockedForWriting(int descriptor, std::uint64_t offset, std::uint64_t bytes);

/// A file that exists only to be locked: it prevents concurrent use of something else. The file is deleted with the
/// lock; one that a killed program left behind is reused.
class LockFile {
public:
    /// Creates the file if it is missing, and locks it without waiting.
    /// @return nullopt, with errno set, if somebody holds the lock (EAGAIN) or the file cannot be created
    static std::optional<LockFile> acquire(std::filesystem::path path);
    LockFile(LockFile&& other) noexcept = default;
    LockFile& operator=(LockFile&& other) = delete;
    ~LockFile();

private:
    LockFile(Descriptor descriptor, std::filesystem::path path);
    Descriptor m_descriptor;
    std::filesystem::path m_path;
};

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
