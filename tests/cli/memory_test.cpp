#include "tests/cli/cli_program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

// Without memory, a program reports one sentence and an exit status, and never ends with a signal.
namespace cli_test {
namespace {

using testing::HasSubstr;

/// Runs stepscope-cli with this much address space, and returns its two outputs together.
Ended runWithin(int mebibytes, const std::string& arguments)
{
    const std::string line =
        "ulimit -c 0; ulimit -v " + std::to_string(mebibytes << 10) + "; exec " STEPSCOPE_CLI " " + arguments + " 2>&1";
    Ended ended;
    FILE* const pipe = popen(line.c_str(), "r");
    std::array<char, 4096> buffer{};
    while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe))
        ended.out.append(buffer.data(), count);
    const int status = pclose(pipe);
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ended;
}

TEST(Memory, ATraceThatDoesNotFitIsReportedInOneSentence)
{
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "a sanitized program needs terabytes of address space";
#endif
    const Folder folder;
    const auto path = folder / "large.json";
    {
        std::ofstream out(path);
        out << "{\"traceEvents\": [\n";
        for (int i = 0; i < 300'000; ++i)
            out << R"({"ph": "X", "cat": "cpu_op", "name": "op )" << i << R"(", "pid": 1, "tid": 1, "ts": )" << 10 * i
                << R"(, "dur": 5, "args": {"External id": )" << i << "}},\n";
        out << R"({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}]})";
    }
    int refused = 0;
    for (int mebibytes = 40; mebibytes <= 640; mebibytes += 25) {
        const Ended ended = runWithin(mebibytes, "summarize " + path.string());
        if (ended.status == 127) // the libraries themselves do not fit
            continue;
        ASSERT_TRUE(ended.status == 0 || ended.status == 1) << mebibytes << " MiB: " << ended.status << "\n"
                                                            << ended.out;
        if (ended.status == 0)
            continue;
        ++refused;
        EXPECT_THAT(ended.out, HasSubstr("not enough memory")) << mebibytes << " MiB";
        EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 1) << ended.out;
    }
    EXPECT_GT(refused, 0);
    EXPECT_EQ(runWithin(4096, "summarize " + path.string()).status, 0);
}

} // namespace
} // namespace cli_test
