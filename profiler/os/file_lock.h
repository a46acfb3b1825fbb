#pragma once

#include "profiler/os/descriptor.h"

#include <cstdint>
#include <filesystem>
#include <optional>

/// Locks on whole files. The kernel releases a lock when its owner closes the file or ends, for whatever reason: a lock
/// proves that a writer is alive, which a process id does not (ids are reused, mean something else in another pid
/// namespace, and outlive a reboot). The locks are open-file-description locks (fcntl(2), F_OFD_SETLK): they also work
/// between two threads of one process and over NFS, and children share them after fork until they close the file.
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

} // namespace profiler::os
