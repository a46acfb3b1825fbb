#pragma once

#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct archive;
struct archive_entry;

namespace trainer::data {

/// Reads the files of an archive (tar, optionally compressed; zip) one after the other with libarchive.
class ArchiveReader {
public:
    static profiler::Result<ArchiveReader> open(const std::filesystem::path& path);
    /// Name of the next regular file; nullopt at the end.
    profiler::Result<std::optional<std::string>> next();
    /// Contents of the file that next() returned. Rejects files with more than `most` bytes.
    profiler::Result<void> read(std::vector<std::uint8_t>& out, std::size_t most);

private:
    struct Close {
        void operator()(::archive* archive) const;
    };
    explicit ArchiveReader(std::filesystem::path path);
    [[nodiscard]] profiler::Error failed() const;

    std::filesystem::path m_path;
    std::unique_ptr<::archive, Close> m_archive;
    ::archive_entry* m_entry = nullptr;
};

/// A file to write to an archive.
struct ArchiveFile {
    std::string name;
    std::vector<std::uint8_t> bytes;
};
/// Writes a tar archive (POSIX ustar).
profiler::Result<void> writeTar(const std::filesystem::path& path, const std::vector<ArchiveFile>& files);

} // namespace trainer::data
