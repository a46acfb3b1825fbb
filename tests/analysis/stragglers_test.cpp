#include "profiler/analysis/communication/stragglers.h"
#include "profiler/analysis/job/collectives.h"

#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

Stragglers stragglersOf(std::string_view text)
{
    const auto trace = traceFromText(text);
    return stragglers(*trace, analysedPart(findSteps(*trace)));
}

TEST(Stragglers, RanksWaitForTheLastToArrive)
{
    const Stragglers found = stragglersOf(R"(
        stream 0 7
          kernel ncclKernel_AllReduce 0 100
          kernel ncclKernel_AllReduce 200 50
          kernel gemm 300 10
        stream 1 7
          kernel ncclKernel_AllReduce 60 41
          kernel ncclKernel_AllReduce 190 60
          kernel gemm 300 90
        stream 2 7
          kernel ncclKernel_AllReduce 10 90
          kernel ncclKernel_AllReduce 230 20
    )");
    EXPECT_EQ(found.collectives, 2);
    ASSERT_EQ(found.ranks.size(), 3U);
    EXPECT_EQ(found.ranks[0].last, 0);
    EXPECT_EQ(found.ranks[0].waited, std::chrono::microseconds(60 + 30));
    EXPECT_EQ(found.ranks[1].last, 1);
    EXPECT_EQ(found.ranks[1].waited, std::chrono::microseconds(40));
    EXPECT_EQ(found.ranks[2].last, 1);
    EXPECT_EQ(found.ranks[2].waited, std::chrono::microseconds(50));
    EXPECT_EQ(found.waited, std::chrono::microseconds(180));
    EXPECT_NEAR(found.waitedShare, 180.0 / (100 + 50 + 41 + 60 + 90 + 20), 1e-9);
    EXPECT_EQ(found.spread, std::chrono::microseconds(50)); // median of 60 and 40
}

TEST(Stragglers, ATruncatedTraceDoesNotShiftThePairs)
{
    const Stragglers found = stragglersOf(R"(
        stream 0 7
          kernel ncclKernel_AllReduce 0 20
          kernel ncclKernel_AllReduce 100 20
          kernel ncclKernel_AllReduce 200 20
        stream 1 7
          kernel ncclKernel_AllReduce 105 15
          kernel ncclKernel_AllReduce 205 15
    )");
    EXPECT_EQ(found.collectives, 2);
    EXPECT_EQ(found.alone, 1);
    EXPECT_EQ(found.ranks.at(1).last, 2);
    EXPECT_EQ(found.ranks.at(0).waited, std::chrono::microseconds(10));
}

TEST(Stragglers, ConcurrentCollectivesAreNotMixed)
{
    const Stragglers found = stragglersOf(R"(
        stream 0 7
          kernel ncclKernel_AllReduce 0 20
        stream 1 7
          kernel ncclKernel_AllGather 5 20
    )");
    EXPECT_EQ(found.collectives, 0);
    EXPECT_EQ(found.alone, 2);
    EXPECT_EQ(found.cannotTell, "no communication kernel overlaps one of the same name on another device");
}

TEST(Stragglers, ConcurrentGroupsAreKeptApart)
{
    const Stragglers found = stragglersOf(R"(
        stream 0 7
          kernel ncclKernel_AllReduce 0 2000
        stream 1 7
          kernel ncclKernel_AllReduce 40 1960
        stream 2 7
          kernel ncclKernel_AllReduce 900 2000
        stream 3 7
          kernel ncclKernel_AllReduce 910 1990
    )");
    EXPECT_EQ(found.collectives, 2);
    EXPECT_EQ(found.waited, std::chrono::microseconds(40 + 10));
    ASSERT_EQ(found.ranks.size(), 4U);
    EXPECT_EQ(found.ranks[1].last, 1);
    EXPECT_EQ(found.ranks[3].last, 1);
}

TEST(Stragglers, PipelineStagesAreExcluded)
{
    const Stragglers found = stragglersOf(R"(
        stream 0 7
          kernel ncclDevKernel_SendRecv 0 500
        stream 1 7
          kernel ncclDevKernel_SendRecv 400 100
    )");
    EXPECT_EQ(found.collectives, 0);
    EXPECT_EQ(
        found.cannotTell,
        "ranks only use kernels that send and receive (pipeline stages, all-to-all), which do not start together by "
        "design");
}

TEST(Stragglers, OneRankGivesNoResult)
{
    EXPECT_EQ(stragglersOf("stream 0 7\nkernel ncclKernel_AllReduce 0 20").cannotTell,
              "the trace contains only one rank; merge the traces of several ranks to compare their arrival times");
    EXPECT_EQ(stragglersOf("stream 0 7\nkernel gemm 0 20").cannotTell,
              "the trace contains no kernels of collective communication");
}

TEST(Collectives, WithTheKernelOfSendAndReceiveAreNamedByTheirOperators)
{
    const auto trace = traceFromText(R"(
        main
          op c10d::alltoall_base_ 0 20
          annotation nccl:all_to_all 1 18
          call cudaLaunchKernel 5 2 corr=1
          op c10d::send 30 20
          call cudaLaunchKernel 35 2 corr=2
          call cudaLaunchKernel 60 2 corr=3
        stream 0 7
          kernel ncclDevKernel_SendRecv 10 5 corr=1
          kernel ncclDevKernel_SendRecv 40 5 corr=2
          kernel ncclDevKernel_SendRecv 70 5 corr=3
    )");
    std::vector<CollectiveKind> kinds;
    std::vector<bool> sends;
    for (const CollectiveCall& call : collectivesOf(*trace).calls) {
        kinds.push_back(call.kind);
        sends.push_back(call.sendsOnly);
    }
    EXPECT_THAT(kinds,
                testing::ElementsAre(CollectiveKind::AllToAll, CollectiveKind::SendRecv, CollectiveKind::SendRecv));
    EXPECT_THAT(sends, testing::ElementsAre(false, true, false));
}

} // namespace
} // namespace profiler::analysis
