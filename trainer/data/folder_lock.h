#pragma once

#include "profiler/model/result.h"
#include "profiler/os/descriptor.h"
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

private:
    explicit FolderLock(profiler::os::Descriptor file) : m_file(std::move(file)) {}
    profiler::os::Descriptor m_file;
};

} // namespace trainer::data
