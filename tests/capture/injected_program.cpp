#include "tests/capture/injected_program.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

namespace capture_test {

namespace {

std::string contents(const std::filesystem::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator(file), {}};
}

ParsedTrace parsePart(const std::filesystem::path& path)
{
    ParsedTrace trace = parseTrace(path);
    if (const auto leftovers = profiler::container::recoverRing(path, trace.runId))
        trace.add(*leftovers);
    return trace;
}

} // namespace

InjectedRun::InjectedRun(std::string_view what, std::string_view trace)
{
    const std::string argument(what), record = (folder.path() / trace).string();
    const auto outPath = folder.path() / "out.txt", errPath = folder.path() / "err.txt";
    pid = fork();
    if (pid == 0) {
        const int outFile = open(outPath.c_str(), O_CREAT | O_WRONLY, 0600);
        const int errFile = open(errPath.c_str(), O_CREAT | O_WRONLY, 0600);
        dup2(outFile, STDOUT_FILENO);
        dup2(errFile, STDERR_FILENO);
        setenv("NVTX_INJECTION64_PATH", INJECTION_LIBRARY, 1);
        setenv("LD_LIBRARY_PATH", CUPTI_FOLDER, 1);
        unsetenv("STEPSCOPE_RECORD");
        if (!trace.empty())
            setenv("STEPSCOPE_RECORD", record.c_str(), 1);
        execl(NVTX_PROGRAM, NVTX_PROGRAM, argument.c_str(), nullptr);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    out = contents(outPath);
    err = contents(errPath);
}

std::vector<std::filesystem::path> InjectedRun::parts() const
{
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        if (entry.path().filename().string().starts_with("t.") && entry.path().extension() != ".ring")
            found.push_back(entry.path());
    return found;
}

ParsedTrace InjectedRun::main() const
{
    return parsePart(folder.path() / ("t." + std::to_string(pid)));
}

std::vector<ParsedTrace> InjectedRun::others() const
{
    std::vector<ParsedTrace> traces;
    for (const auto& path : parts())
        if (path.extension() != "." + std::to_string(pid))
            traces.push_back(parsePart(path));
    return traces;
}

} // namespace capture_test
