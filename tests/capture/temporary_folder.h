#pragma once

#include <filesystem>

namespace capture_test {

/// A folder for one test, deleted afterwards.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] std::filesystem::path operator/(const char* name) const { return m_path / name; }
    /// Number of files in the folder.
    [[nodiscard]] std::size_t files() const;

private:
    std::filesystem::path m_path;
};

} // namespace capture_test
