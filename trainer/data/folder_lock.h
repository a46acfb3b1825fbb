#pragma once

#include "profiler/model/result.h"
#include "trainer/data/dataset_kind.h"

#include <filesystem>
#include <stop_token>
#include <utility>

namespace trainer::data {

/// A lock between processes: two trainers that start at the same time must not write the same files. The kernel
/// releases it if its holder dies.
class FolderLock {
public:
    /// Waits for the lock. On a file system without locks, it succeeds at once.
    static profiler::Result<FolderLock> take(const std::filesystem::path& file, const OpenProgress& progress,
                                             std::stop_token stop);
    FolderLock(FolderLock&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
    FolderLock& operator=(FolderLock&&) = delete;
    ~FolderLock();

private:
    explicit FolderLock(int fd) : m_fd(fd) {}
    int m_fd;
};

} // namespace trainer::data
