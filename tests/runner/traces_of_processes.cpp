#include "tests/runner/traces_of_processes.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace runner_test {

namespace fs = std::filesystem;

Folder::Folder()
{
    std::string pattern = "/var/tmp/stepscope-test-XXXXXX";
    m_root = ::mkdtemp(pattern.data());
    fs::permissions(m_root, fs::perms::all);
    m_path = m_root / "program";
    for (const fs::path& folder : {m_path, m_root / "scratch"}) {
        fs::create_directory(folder);
        fs::permissions(folder, fs::perms::all);
    }
    ::setenv("STEPSCOPE_SCRATCH", (m_root / "scratch").c_str(), 1);
}

Folder::~Folder()
{
    ::unsetenv("STEPSCOPE_SCRATCH");
    std::error_code ignored;
    fs::remove_all(m_root, ignored);
}

fs::path Folder::write(const std::string& name, const std::string& text) const
{
    fs::create_directories((m_path / name).parent_path());
    std::ofstream(m_path / name, std::ios::binary) << text;
    return m_path / name;
}

std::map<std::string, std::string> Folder::files() const
{
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(m_path))
        if (entry.is_regular_file())
            found[entry.path().lexically_relative(m_path)] = readText(entry.path());
    return found;
}

std::set<std::string> Folder::scratch() const
{
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(m_root / "scratch"))
        found.insert(entry.path().filename());
    return found;
}

std::string readText(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<pid_t> processesWith(const std::string& assignment)
{
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos)
            continue;
        const std::string environment = '\0' + readText(entry.path() / "environ");
        if (environment.find('\0' + assignment + '\0') != std::string::npos)
            found.push_back(std::stoi(name));
    }
    return found;
}

std::string mounts()
{
    return readText("/proc/self/mountinfo");
}

} // namespace runner_test
