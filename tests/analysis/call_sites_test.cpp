#include "profiler/analysis/operators/call_sites.h"
#include "profiler/analysis/operators/range_name.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

CallSitesOfTrace sitesOf(std::string_view text)
{
    const auto trace = traceFromText(text);
    return callSites(*trace, LaunchCalls(*trace), analysedPart(findSteps(*trace)));
}

TEST(CallSites, AMemsetHasTheOperatorsRangeAndPhaseOfItsCall)
{
    const CallSites memsets = sitesOf(R"(
        main
          step 0 0 100
          step 1 100 100
          annotation "Optimizer.zero_grad#SGD.zero_grad" 100 50
          op aten::zero_ 110 20
          op aten::fill_ 112 16
          call cudaMemsetAsync 115 5 corr=1
          op aten::zero_ 130 20
          op aten::fill_ 132 16
          call cudaMemsetAsync 135 5 corr=2
          annotation "layer 7" 160 20
          call cudaMemsetAsync 165 5 corr=3
        stream 0 7
          memset m 170 1 corr=1 bytes=100
          memset m 180 2 corr=2 bytes=200
          memset m 190 9 corr=3 bytes=8
    )")
                                  .memsets;
    ASSERT_EQ(memsets.sites.size(), 2U);
    EXPECT_EQ(memsets.sites[0].ops, "");
    EXPECT_EQ(memsets.sites[0].range, "layer");
    EXPECT_EQ(memsets.sites[0].phase, "");
    const CallSite& zero = memsets.sites[1];
    EXPECT_EQ(zero.ops, "aten::zero_ > aten::fill_");
    EXPECT_EQ(zero.range, "Optimizer.zero_grad#SGD.zero_grad");
    EXPECT_EQ(zero.phase, "zero grad");
    EXPECT_EQ(zero.call, "cudaMemsetAsync");
    EXPECT_EQ(zero.count, 2);
    EXPECT_DOUBLE_EQ(zero.countPerStep, 2);
    EXPECT_EQ(zero.bytes, 300);
    EXPECT_EQ(zero.time, std::chrono::microseconds(3));
    EXPECT_EQ(memsets.count, 3);
    EXPECT_EQ(memsets.unlinked, 0);
}

TEST(CallSites, MemsetsWithoutACallAreCounted)
{
    const CallSites memsets = sitesOf(R"(
        main
          call cudaMemsetAsync 0 5 corr=1
        stream 0 7
          memset m 10 1 corr=1
          memset m 20 2 corr=2
    )")
                                  .memsets;
    EXPECT_EQ(memsets.count, 2);
    EXPECT_EQ(memsets.unlinked, 1);
    ASSERT_EQ(memsets.sites.size(), 2U);
    EXPECT_EQ(memsets.sites[0].call, "");
    EXPECT_EQ(memsets.sites[1].call, "cudaMemsetAsync");
}

TEST(CallSites, AWaitHasTheOperatorChainOfItsCall)
{
    const CallSites syncs = sitesOf(R"(
        main
          op aten::item 0 50
          op aten::_local_scalar_dense 5 40
          call cudaMemcpyAsync 6 4 corr=1
          call cudaStreamSynchronize 10 30
          call cudaDeviceSynchronize 60 10
          call cudaMemcpy 80 5 corr=2
          call cudaLaunchKernel 90 5 corr=3
    )")
                                .syncs;
    ASSERT_EQ(syncs.sites.size(), 3U); // the asynchronous copy and the launch do not wait
    EXPECT_EQ(syncs.sites[0].ops, "aten::item > aten::_local_scalar_dense");
    EXPECT_EQ(syncs.sites[0].call, "cudaStreamSynchronize");
    EXPECT_EQ(syncs.sites[0].time, std::chrono::microseconds(30));
    EXPECT_EQ(syncs.sites[1].call, "cudaDeviceSynchronize");
    EXPECT_EQ(syncs.sites[2].call, "cudaMemcpy");
    EXPECT_EQ(syncs.count, 3);
}

TEST(CallSites, ALongChainIsShortenedInTheMiddle)
{
    const CallSites syncs = sitesOf(R"(
        main
          op a 0 50
          op b 1 48
          op c 2 46
          op d 3 44
          op e 4 42
          call cudaStreamSynchronize 10 30
    )")
                                .syncs;
    EXPECT_EQ(syncs.sites.at(0).ops, "a > … > d > e");
}

TEST(CallSites, RangesAroundOperatorsAreOperatorsAndPythonFunctionsAreRanges)
{
    const CallSites syncs = sitesOf(R"(
        main
          other "train.py(12): step" 0 100
          nvtx aten::copy_ 5 80
          call cudaStreamSynchronize 10 30
    )")
                                .syncs;
    EXPECT_EQ(syncs.sites.at(0).ops, "aten::copy_");
    EXPECT_EQ(syncs.sites.at(0).range, "train.py(12): step");
}

TEST(CallSites, UsesWaitsIfCallsAreNotRecorded)
{
    const CallSites syncs = sitesOf("main\nop aten::item 0 50\nsync \"Stream Sync\" 10 30").syncs;
    ASSERT_EQ(syncs.sites.size(), 1U);
    EXPECT_EQ(syncs.sites[0].ops, "aten::item");
    EXPECT_EQ(syncs.sites[0].time, std::chrono::microseconds(30));
}

TEST(CallSites, CallsOutsideOfStepsDoNotCount)
{
    const CallSitesOfTrace sites = sitesOf(R"(
        main
          step 0 0 100
          step 1 100 100
          call cudaDeviceSynchronize 300 89000
          call cudaMemsetAsync 250 5 corr=1
        stream 0 7
          memset m 260 1 corr=1
    )");
    EXPECT_EQ(sites.syncs.count, 0);
    EXPECT_EQ(sites.syncs.cannotTell, "no call in the steps waits for a device");
    EXPECT_EQ(sites.memsets.cannotTell, "no memset starts in the steps");
}

TEST(CallSites, ReportsWhyThereIsNoResult)
{
    const CallSitesOfTrace none = sitesOf("main\nop aten::mm 0 10");
    EXPECT_EQ(none.memsets.cannotTell, "the trace contains no device memsets");
    EXPECT_EQ(none.syncs.cannotTell, "the trace contains no CUDA calls");
    EXPECT_EQ(sitesOf("main\ncall cudaLaunchKernel 0 4 corr=1").syncs.cannotTell,
              "no recorded call waits for a device");
}

TEST(CallSites, RangeNumbersAreRemoved)
{
    EXPECT_EQ(withoutNumber("iteration 12"), "iteration");
    EXPECT_EQ(withoutNumber("iteration_12"), "iteration");
    EXPECT_EQ(withoutNumber("conv1"), "conv");
    EXPECT_EQ(withoutNumber("12"), "12");
    EXPECT_EQ(withoutNumber("forward"), "forward");
}

} // namespace
} // namespace profiler::analysis
