#pragma once

#include "profiler/os/descriptor.h"
#include "profiler/os/files.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

namespace profiler::os {

/// The next contents of a file, written under a temporary name in the same folder. commit() gives them the file's name
/// in one step, so that a reader sees either the old contents or all of the new ones. Without commit(), the destructor
/// deletes them. Not thread-safe.
class ReplacementFile {
public:
    /// @return nullopt, with errno set, if no file can be created in the folder of `path`
    static std::optional<ReplacementFile> create(std::filesystem::path path);
    ReplacementFile(ReplacementFile&& other) noexcept;
    ReplacementFile& operator=(ReplacementFile&& other) noexcept;
    ~ReplacementFile();

    /// Appends. @return 0, or errno
    int write(std::span<const std::byte> bytes) { return writeAll(m_file.get(), bytes).error; }
    int write(std::string_view text) { return writeAll(m_file.get(), text).error; }
    /// @return 0, or errno
    int writeAt(std::uint64_t offset, std::span<const std::byte> bytes)
    {
        return writeAllAt(m_file.get(), offset, bytes).error;
    }
    /// Writes everything to the disk and replaces the file. Afterwards, nothing may be written.
    /// @return 0, or errno with the old contents unchanged
    int commit();

private:
    ReplacementFile(Descriptor file, std::filesystem::path temporary, std::filesystem::path path);

    Descriptor m_file;
    std::filesystem::path m_temporary; ///< empty after commit()
    std::filesystem::path m_path;
};

} // namespace profiler::os
