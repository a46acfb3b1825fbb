#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace runner_test {

/// A folder of a test's own below /var/tmp, deleted with it. Scratch layers of private views go there, too
/// (STEPSCOPE_SCRATCH), so that a test sees whether one is left.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return m_path / name; }
    std::filesystem::path write(const std::string& name, const std::string& text) const;
    /// All files of the program's folder with their texts.
    [[nodiscard]] std::map<std::string, std::string> files() const;
    /// What views have left in their scratch folder.
    [[nodiscard]] std::set<std::string> scratch() const;

private:
    std::filesystem::path m_root, m_path;
};

std::string readText(const std::filesystem::path& path);
/// Processes whose environment has this assignment: what a program has started, however it tried to get away.
std::vector<pid_t> processesWith(const std::string& assignment);
/// The mounts that this process sees.
std::string mounts();

} // namespace runner_test
