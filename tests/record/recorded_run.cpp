#include "tests/record/recorded_run.h"

#include "profiler/formats/container/trace_reader.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/wait.h>

namespace record_test {

namespace {

std::string contents(const std::filesystem::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator(file), {}};
}

} // namespace

Folder::Folder()
{
    std::string name = (std::filesystem::temp_directory_path() / "stepscope-record-XXXXXX").string();
    m_path = mkdtemp(name.data());
}

Folder::~Folder()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

std::filesystem::path Folder::write(std::string_view name, std::string_view text) const
{
    std::ofstream(m_path / name) << text;
    return m_path / name;
}

std::set<std::string> Folder::files() const
{
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(m_path))
        found.insert(entry.path().filename().string());
    return found;
}

Ended shell(const Folder& folder, const std::string& line)
{
    const auto out = folder / "out.txt", err = folder / "err.txt";
    const int status = std::system(("{ " + line + "; } > '" + out.string() + "' 2> '" + err.string() + "'").c_str());
    Ended ended{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), contents(out), contents(err)};
    std::filesystem::remove(out);
    std::filesystem::remove(err);
    return ended;
}

Ended record(const Folder& folder, const std::string& command, const std::string& options)
{
    return shell(folder, std::string(STEPSCOPE_CLI) + " record -o '" + (folder / "t.sstrace").string() + "' " +
                             options + " -- " + command);
}

nlohmann::json summary(const Folder& folder)
{
    const Ended ended =
        shell(folder, std::string(STEPSCOPE_CLI) + " summarize --json '" + (folder / "t.sstrace").string() + "'");
    EXPECT_EQ(ended.status, 0) << ended.err;
    return nlohmann::json::parse(ended.out, nullptr, false);
}

std::shared_ptr<const profiler::Trace> trace(const Folder& folder)
{
    auto read = profiler::container::readTrace(folder / "t.sstrace");
    EXPECT_TRUE(read) << read.error().message();
    return read ? *read : std::make_shared<profiler::Trace>();
}

std::vector<std::string> names(const profiler::Trace& trace, profiler::ActivityKind kind)
{
    std::vector<std::string> found;
    for (const profiler::Slice& slice : trace.ofKind(kind))
        found.emplace_back(trace.name(slice));
    return found;
}

} // namespace record_test
