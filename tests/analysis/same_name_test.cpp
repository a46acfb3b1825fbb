#include "profiler/analysis/operators/same_name.h"
#include "tests/support/trace_text.h"

#include <gtest/gtest.h>
#include <numeric>
#include <string_view>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

Slice sliceNamed(const Trace& trace, std::string_view name, std::size_t nth = 0)
{
    for (const Track& track : trace.tracks())
        for (const Slice& slice : trace.sorted(track.id))
            if (trace.name(slice) == name && nth-- == 0)
                return slice;
    ADD_FAILURE() << "there is no such slice: " << name;
    return {};
}

TEST(SameName, CountsSlicesOfTheSameNameAndKindOnAllTracks)
{
    const auto trace = traceFromText(R"(
        main
          op add 0 1000
        stream 0 7
          kernel add 0 30
          kernel add 40 30
          kernel add 80 10
        stream 0 8
          kernel add 50 1
          kernel mul 60 500
    )");
    const Slice slice = sliceNamed(*trace, "add", 2);
    const SameName same = sameName(*trace, slice);
    EXPECT_EQ(same.count, 4);
    EXPECT_EQ(same.total, Nanoseconds(71'000));
    EXPECT_EQ(same.shortest, Nanoseconds(1'000));
    EXPECT_EQ(same.median, Nanoseconds(30'000));
    EXPECT_EQ(same.longest, Nanoseconds(30'000));
    EXPECT_EQ(same.shorter, 2);
    EXPECT_EQ(trace->slice(same.shortestSlice).begin - trace->range().begin, Nanoseconds(50'000));
    ASSERT_TRUE(same.previous && same.next);
    EXPECT_EQ(trace->slice(*same.previous).begin - trace->range().begin, Nanoseconds(0));
    EXPECT_EQ(*same.next, same.shortestSlice);
    EXPECT_EQ(std::accumulate(same.bins.begin(), same.bins.end(), std::int64_t{0}), 4);
    EXPECT_EQ(same.bins.front(), 1);
    EXPECT_EQ(same.bins.back(), 2);
}

TEST(SameName, BinsAreLogarithmic)
{
    const Nanoseconds low(999), high(999'999); // one less than a power of ten, see binOf()
    EXPECT_EQ(binOf(low, low, high), 0U);
    EXPECT_EQ(binOf(high, low, high), SameName::kBins - 1);
    EXPECT_EQ(binOf(Nanoseconds(31'622), low, high), SameName::kBins / 2) << "the geometric mean";
    EXPECT_EQ(binOf(low, low, low), 0U);
    EXPECT_EQ(binOf(Nanoseconds(0), Nanoseconds(0), high), 0U);
}

TEST(WorkLaunchedInside, IsFoundByCorrelation)
{
    const auto trace = traceFromText(R"(
        main
          op aten::linear 10 40
          op aten::mm 15 10
          call cudaLaunchKernel 17 4 corr=1
          call cudaLaunchKernel 30 4 corr=2
          op aten::relu 60 10
          call cudaLaunchKernel 62 4 corr=3
        stream 0 7
          kernel gemm 100 30 corr=1
          kernel bias 130 5 corr=2
          kernel relu 140 50 corr=3
    )");
    const WorkLaunchedInside inside = workLaunchedInside(*trace, sliceNamed(*trace, "aten::linear"));
    EXPECT_EQ(inside.count, 2);
    EXPECT_EQ(inside.time, Nanoseconds(35'000));
    EXPECT_EQ(inside.end - inside.begin, Nanoseconds(35'000));
    EXPECT_EQ(trace->name(trace->slice(inside.longest)), "gemm");
    EXPECT_EQ(workLaunchedInside(*trace, sliceNamed(*trace, "aten::mm")).count, 1);
    EXPECT_EQ(workLaunchedInside(*trace, sliceNamed(*trace, "cudaLaunchKernel")).count, 1);
    EXPECT_EQ(workLaunchedInside(*trace, sliceNamed(*trace, "gemm")).count, 0);
}

} // namespace
} // namespace profiler::analysis
