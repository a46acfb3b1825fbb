#pragma once

#include <filesystem>

namespace capture_test {

/// A folder of a test's own, deleted with it.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] std::filesystem::path operator/(const char* name) const { return m_path / name; }
    /// How many files it holds.
    [[nodiscard]] std::size_t files() const;

private:
    std::filesystem::path m_path;
};

} // namespace capture_test
