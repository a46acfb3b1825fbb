#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace runner_test {

/// A temporary folder for a test below /var/tmp, deleted with its owner. Scratch layers of private views are created in
/// it, too (STEPSCOPE_SCRATCH), so that a test notices if one is left behind.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return m_path / name; }
    std::filesystem::path write(const std::string& name, const std::string& text) const;
    /// All files of the program's folder with their contents.
    [[nodiscard]] std::map<std::string, std::string> files() const;
    /// What views have left in their scratch folder.
    [[nodiscard]] std::set<std::string> scratch() const;

private:
    std::filesystem::path m_root, m_path;
};

std::string readText(const std::filesystem::path& path);
/// Processes whose environment contains this assignment: all that a program has started, even if they detached.
std::vector<pid_t> processesWith(const std::string& assignment);
/// The mounts that are visible to this process.
std::string mounts();

} // namespace runner_test
