#include "profiler/analysis/facts.h"
#include "profiler/analysis/steps/ranks.h"
#include "tests/support/trace_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace profiler;
using namespace profiler::analysis;
using test_support::traceFromText;
using testing::ElementsAre;

/// A rank as written by PyTorch's profiler: the rows of a device have no process. Each step launches two kernels.
/// @param first  correlation id of the first launch; ranks with the same value use the same ids
std::string rankText(int process, int device, int begin, int stepUs, int kernelUs, int first)
{
    return fmt::format(R"(
        repeat 5 every {2}
          thread python{0} pid={0} tid={0}
            annotation ProfilerStep#10 {1} {2}
            op aten::mm {3} 20
            call cudaLaunchKernel {4} 5 corr={5}
            call cudaLaunchKernel {6} 5 corr={7}
          stream {8} 7
            kernel gemm {9} {10} corr={5}
            kernel add {11} {10} corr={7}
        end
)",
                       process, begin, stepUs, begin + 5, begin + 6, first, begin + 15, first + 1, device, begin + 20,
                       kernelUs, begin + 20 + kernelUs);
}

std::shared_ptr<const Trace> fused(const std::string& text)
{
    return traceFromText("format pytorch-json\n" + text);
}

std::vector<Rank> ranksIn(const Trace& trace)
{
    return ranksOf(trace, findSteps(trace));
}

TEST(Ranks, AreProcessesWithTheirOwnDevicesAndSteps)
{
    const auto trace = fused(rankText(11, 0, 0, 100, 20, 1) + rankText(12, 1, 3, 120, 30, 50'000));
    const std::vector<Rank> ranks = ranksIn(*trace);
    ASSERT_EQ(ranks.size(), 2U);
    EXPECT_EQ(ranks[0].number, 0);
    EXPECT_EQ(ranks[0].process, 11);
    EXPECT_THAT(ranks[0].devices, ElementsAre(DeviceId{0}));
    EXPECT_THAT(ranks[1].devices, ElementsAre(DeviceId{1}));
    ASSERT_EQ(ranks[0].steps.size(), 5U);
    ASSERT_EQ(ranks[1].steps.size(), 5U);
    EXPECT_DOUBLE_EQ(stepStatistics(ranks[0].steps).steadyMeanUs, 100);
    EXPECT_DOUBLE_EQ(stepStatistics(ranks[1].steps).steadyMeanUs, 120);
    EXPECT_FALSE(ranks[0].sharesDevices);
    const ActivityScan scan = scanActivity(*ranks[1].trace);
    ASSERT_EQ(scan.devices.size(), 1U);
    EXPECT_EQ(scan.of(ActivityKind::Kernel).count, 10);
    EXPECT_EQ(representativeRank(ranks, *trace, findSteps(*trace)).number, 1) << "the slower one";
}

// CUPTI numbers launches from 1 in every process.
TEST(Ranks, AreDistinguishedByCallTimesIfTheyUseTheSameIds)
{
    for (const int begin : {2, 40, 100'000}) {
        const auto trace = fused(rankText(11, 0, 0, 100, 20, 1) + rankText(12, 1, begin, 100, 20, 1));
        const std::vector<Rank> ranks = ranksIn(*trace);
        ASSERT_EQ(ranks.size(), 2U) << begin;
        EXPECT_THAT(ranks[0].devices, ElementsAre(DeviceId{0})) << begin;
        EXPECT_EQ(ranks[0].process, 11) << begin;
        EXPECT_THAT(ranks[1].devices, ElementsAre(DeviceId{1})) << begin;
    }
}

TEST(Ranks, OfAnExportAreTheProcessesOfItsStreams)
{
    const auto trace = traceFromText(R"(
        format nsys-sqlite
        main pid=21
          call cudaLaunchKernel 0 5 corr=1
        stream 0 7 pid=21
          kernel a 10 100
        stream 1 7 pid=22
          kernel a 10 100
        stream 2 7 pid=23
          kernel clear 10 4
    )");
    const std::vector<Rank> ranks = ranksOf(*trace, {});
    ASSERT_EQ(ranks.size(), 2U) << "process 23 has less than a twentieth of the work";
    EXPECT_EQ(ranks[0].process, 21);
    EXPECT_EQ(ranks[1].process, 22);
    EXPECT_TRUE(ranks[0].steps.empty());
}

TEST(Ranks, AreEmptyForTheTraceOfOneProcess)
{
    EXPECT_TRUE(ranksIn(*fused(rankText(11, 0, 0, 100, 20, 1))).empty());
    const auto twoDevices = fused(rankText(11, 0, 0, 100, 20, 1) + "stream 1 7\n kernel a 10 50 corr=1\n");
    EXPECT_TRUE(ranksIn(*twoDevices).empty());
    const auto helper = traceFromText(R"(
        main pid=1
          step 0 0 100
          call cudaLaunchKernel 0 5 corr=1
        stream 0 7 pid=1
          kernel a 10 50 corr=1
        thread decoder pid=2
          call cudaLaunchKernel 0 5 corr=1
        stream 0 13 pid=2
          kernel decode 10 50 corr=1
    )");
    EXPECT_TRUE(ranksIn(*helper).empty()) << "a loader that decodes on the training device";
}

TEST(Ranks, AreNumberedByTheirNames)
{
    const auto trace = traceFromText(R"(
        thread "main thread of rank 5" pid=1
          step 0 0 100
          step 1 100 100
        thread "main thread of rank 3" pid=2
          step 0 0 100
          step 1 100 100
    )");
    const std::vector<Rank> ranks = ranksIn(*trace);
    ASSERT_EQ(ranks.size(), 2U);
    EXPECT_EQ(ranks[0].number, 3);
    EXPECT_EQ(ranks[0].process, 2);
    EXPECT_EQ(ranks[1].number, 5);
}

TEST(Ranks, ShareWorkThatCannotBeAssigned)
{
    const auto trace = traceFromText(R"(
        main pid=1
          step 0 0 100
        thread other pid=2
          step 0 0 100
        stream 0 7
          kernel a 10 50
    )");
    const std::vector<Rank> ranks = ranksIn(*trace);
    ASSERT_EQ(ranks.size(), 2U);
    EXPECT_TRUE(ranks[0].sharesDevices);
    EXPECT_EQ(scanActivity(*ranks[1].trace).of(ActivityKind::Kernel).count, 1);
}

TEST(Ranks, AreNotMixedInTheResultsForRules)
{
    const std::string alone = rankText(12, 1, 3, 120, 30, 50'000);
    const auto trace = fused(rankText(11, 0, 0, 100, 20, 1) + alone);
    const Facts facts = analyse(*trace), expected = analyse(*fused(alone));
    ASSERT_TRUE(facts.rank);
    EXPECT_EQ(facts.rank->number, 1);
    EXPECT_EQ(facts.rank->of, 2U);
    ASSERT_EQ(facts.rank->all.size(), 2U);
    EXPECT_EQ(facts.rank->all[0].number, 0);
    EXPECT_EQ(facts.rank->all[0].count, 5);
    EXPECT_DOUBLE_EQ(facts.rank->all[0].steadyMeanUs, 100);
    EXPECT_DOUBLE_EQ(facts.rank->all[1].steadyMeanUs, 120);
    EXPECT_EQ(facts.statistics.steadyMeanUs, expected.statistics.steadyMeanUs);
    EXPECT_EQ(facts.device.work.all.time, expected.device.work.all.time);
    EXPECT_EQ(facts.device.idleShare(), expected.device.idleShare());
    EXPECT_EQ(facts.device.ranks, 1);
    EXPECT_FALSE(expected.rank);
    // The ids are those of the whole trace.
    EXPECT_EQ(trace->track(facts.steps.front().slice.track).pid, 12);
}

TEST(Ranks, AChosenRankIsAnalysed)
{
    const std::string alone = rankText(11, 0, 0, 100, 20, 1);
    const auto trace = fused(alone + rankText(12, 1, 3, 120, 30, 50'000));
    const Facts facts = analyse(*trace, findSteps(*trace), {}, 0), expected = analyse(*fused(alone));
    ASSERT_TRUE(facts.rank);
    EXPECT_TRUE(facts.rank->chosen);
    EXPECT_EQ(facts.rank->number, 0);
    EXPECT_EQ(facts.statistics.steadyMeanUs, expected.statistics.steadyMeanUs);
    EXPECT_EQ(facts.device.work.all.time, expected.device.work.all.time);
    const Facts other = analyse(*trace, findSteps(*trace), {}, 7);
    EXPECT_FALSE(other.rank->chosen) << "there is no rank 7";
    EXPECT_EQ(other.rank->number, 1);
}

TEST(Ranks, TheRankOfTheStepsIsRepresentativeIfNoneIsSlower)
{
    const auto trace = fused(rankText(11, 0, 0, 1000, 20, 1) + rankText(12, 1, 0, 1005, 20, 50'000));
    auto steps = findSteps(*trace);
    const std::vector<Rank> ranks = ranksOf(*trace, steps);
    ASSERT_EQ(ranks.size(), 2U);
    EXPECT_EQ(representativeRank(ranks, *trace, ranks[0].steps).number, 0) << "half a percent counts as equal";
    EXPECT_EQ(representativeRank(ranks, *trace, ranks[1].steps).number, 1);
}

} // namespace
