#include "profiler/capture/nvtx_ranges.h"

#include "profiler/model/activity.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <gmock/gmock.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;

namespace {

/// What a child process prints while it runs `what`, with or without a listener.
std::string printed(const char* listener, const std::function<void()>& what)
{
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        if (listener)
            setenv("NVTX_INJECTION64_PATH", listener, 1);
        else
            unsetenv("NVTX_INJECTION64_PATH");
        what();
        std::fflush(stdout);
        _exit(0);
    }
    close(ends[1]);
    std::string text;
    char bytes[4096];
    for (ssize_t count = 0; (count = read(ends[0], bytes, sizeof bytes)) > 0;)
        text.append(bytes, static_cast<std::size_t>(count));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return text;
}

void trainTwoSteps()
{
    const NvtxRanges ranges;
    for (int step = 0; step < 2; ++step) {
        ranges.push("step");
        {
            const NvtxScope phase(&ranges, phase::kForward);
        }
        const NvtxScope phase(&ranges, phase::kBackward);
        const NvtxScope none(nullptr, phase::kBackward);
    }
    ranges.pop();
    ranges.pop();
}

} // namespace

TEST(NvtxRanges, AToolReceivesThePhasesInOurDomain)
{
    const std::string step = "push stepscope text step\n"
                             "push stepscope registered forward\n"
                             "pop stepscope\n"
                             "push stepscope registered backward\n"
                             "pop stepscope\n";
    EXPECT_EQ(printed(NVTX_LISTENER, trainTwoSteps), step + step + "pop stepscope\npop stepscope\n");
}

TEST(NvtxRanges, EveryPhaseIsRegistered)
{
    const std::string heard = printed(NVTX_LISTENER, [] {
        const NvtxRanges ranges;
        for (const auto name : {phase::kDataWait, phase::kCopy, phase::kZeroGrad, phase::kForward, phase::kBackward,
                                phase::kOptimizer, phase::kMetrics, phase::kValidation, phase::kWorkerStart}) {
            ranges.push(name);
            ranges.pop();
        }
    });
    EXPECT_THAT(heard, testing::Not(testing::HasSubstr(" text ")));
    EXPECT_THAT(heard, testing::HasSubstr("push stepscope registered start workers\n"));
}

TEST(NvtxRanges, WithoutAToolNothingIsPrinted)
{
    EXPECT_EQ(printed(nullptr, trainTwoSteps), "");
}

} // namespace capture_test
