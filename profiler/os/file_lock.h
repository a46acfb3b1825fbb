#pragma once

#include <filesystem>
#include <optional>

/// Locks on whole files. The kernel drops a lock when its owner closes the file or ends, however it ends: a lock says
/// that a writer is alive, which a process number does not (numbers are used again, mean something else in another pid
/// namespace, and outlive a reboot). The locks are open-file-description locks (fcntl(2), F_OFD_SETLK): they also
/// exclude two threads of one process, work over NFS, and are shared with children by fork until these close the file.
namespace profiler::os {

/// Whether somebody holds the lock on a file. Unknown: the file is gone, or its file system has no locks.
enum class LockHolder { Nobody, Somebody, Unknown };

/// Takes the lock on the whole file that `descriptor` is open for writing, without waiting.
/// @return false, with errno: somebody has it (EAGAIN), or the file system has no locks
bool lockWholeFile(int descriptor);
/// @param descriptor  open for reading; its own lock does not count
LockHolder lockHolder(int descriptor);
LockHolder lockHolder(const std::filesystem::path& file);

/// A file that exists only to be locked: it keeps others from using something at the same time. Deleted with the lock;
/// one that a killed program left is taken over.
class LockFile {
public:
    /// Makes the file where it is missing, and locks it without waiting.
    /// @return nothing, with errno: somebody has it (EAGAIN), or the file cannot be made
    static std::optional<LockFile> acquire(std::filesystem::path path);
    LockFile(LockFile&& other) noexcept;
    LockFile& operator=(LockFile&& other) = delete;
    ~LockFile();

private:
    LockFile(int descriptor, std::filesystem::path path);
    int m_descriptor;
    std::filesystem::path m_path;
};

} // namespace profiler::os
