#include "profiler/analysis/steps/warm_up.h"

#include "profiler/analysis/facts.h"
#include "profiler/analysis/steps/steps.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

/// The parts of a window of 1 s: kind and µs.
std::vector<std::pair<OneTimeKind, double>> partsOf(const std::string& text)
{
    std::vector<std::pair<OneTimeKind, double>> parts;
    for (const OneTimePart& part :
         oneTimeWork(*traceFromText("main\n" + text), {TraceTime{}, TraceTime{std::chrono::seconds(1)}}))
        parts.emplace_back(part.kind, toUs(part.time));
    return parts;
}

using Parts = std::vector<std::pair<OneTimeKind, double>>;

TEST(OneTimeWork, FindsEachKindInTheFirstHalfLongestFirst)
{
    EXPECT_EQ(partsOf("driver cuLibraryLoadData 0 5000\ncall cudaMalloc 10000 300\ncall hipMalloc 11000 300\n"
                      "annotation \"entire_frame_compile (dynamo_timed)\" 20000 90000\n"
                      "call cudaLaunchKernel 150000 40000\nop aten::cudnn_convolution 200000 70000\n"),
              (Parts{{OneTimeKind::Compilation, 90000},
                     {OneTimeKind::Autotuning, 70000},
                     {OneTimeKind::FirstLaunch, 40000},
                     {OneTimeKind::CodeLoading, 5000},
                     {OneTimeKind::Allocation, 600}}));
}

TEST(OneTimeWork, PartsDoNotOverlap)
{
    EXPECT_EQ(partsOf("op aten::cudnn_convolution 0 60000\ncall cudaLaunchKernel 1000 50000\n"
                      "driver cuModuleLoadData 2000 40000\n"),
              (Parts{{OneTimeKind::CodeLoading, 40000},
                     {OneTimeKind::FirstLaunch, 10000},
                     {OneTimeKind::Autotuning, 10000}}));
}

TEST(OneTimeWork, RecurringWorkIsNotOneTimeWork)
{
    EXPECT_EQ(partsOf("call cudaMalloc 0 1000\ncall cudaMalloc 600000 99\n"), (Parts{{OneTimeKind::Allocation, 1000}}));
    EXPECT_EQ(partsOf("call cudaMalloc 0 1000\ncall cudaMalloc 600000 100\n"), Parts{});
    EXPECT_EQ(partsOf("call cudaMalloc 600000 1000\n"), Parts{});
}

TEST(OneTimeWork, ALaunchBlockedByAFullQueueIsNotAFirstLaunch)
{
    EXPECT_EQ(partsOf("call cudaLaunchKernel 0 10000\n"), (Parts{{OneTimeKind::FirstLaunch, 10000}}));
    EXPECT_EQ(partsOf("call cudaLaunchKernel 0 9999\n"), Parts{});
    EXPECT_EQ(partsOf("call cudaLaunchKernel 0 80000\ncall cudaLaunchKernel 600000 8001\n"), Parts{});
    EXPECT_EQ(partsOf("call cudaLaunchKernel 0 80000\ncall cudaLaunchKernel 600000 8000\n"),
              (Parts{{OneTimeKind::FirstLaunch, 80000}}));
}

/// Eight steps of 10 ms, with `us` of one-time work in each of the first three.
std::vector<Step> stepsWith(int us)
{
    return findSteps(*traceFromText("main\nrepeat 8 every 10000\nstep 0 0 10000\nend\nrepeat 3 every 10000\n"
                                    "driver cuModuleLoadData 100 " +
                                    std::to_string(us) + "\nend\n"));
}

TEST(OneTimeWork, MakesFirstStepsWarmUpIfItTakesASeventhOfAStep)
{
    const auto warm = [](const std::vector<Step>& steps) {
        std::string marks;
        for (const Step& step : steps)
            marks += step.warmup ? 'w' : '-';
        return marks;
    };
    EXPECT_EQ(warm(stepsWith(1429)), "www-----");
    EXPECT_EQ(warm(stepsWith(1428)), "w-------") << "the first step of a run always is warm-up";
}

TEST(OneTimeWork, IsExcludedFromTheWindowOfATraceWithoutSteps)
{
    const auto begin = [](int us) {
        const auto trace = traceFromText("main\ndriver cuModuleLoadData 0 " + std::to_string(us) +
                                         "\nannotation x 0 1\nstream 0 7\nkernel a 0 10\nkernel b 9000 90000\n");
        return toUs(analyse(*trace, {}).device.window.front().begin - TraceTime{});
    };
    EXPECT_EQ(begin(8000), 8000);
    EXPECT_EQ(begin(0), 0);
}

} // namespace
} // namespace profiler::analysis
