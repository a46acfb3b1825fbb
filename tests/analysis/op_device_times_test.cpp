#include "profiler/analysis/operators/op_costs.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace {

using namespace profiler;
using analysis::OpDeviceTimes;
using test_support::traceFromText;
using Times = OpDeviceTimes::Times;

/// The device times of all operators, by name.
std::map<std::string, std::optional<Times>> timesOf(std::string_view text)
{
    const auto trace = traceFromText(text);
    const OpDeviceTimes times(*trace);
    std::map<std::string, std::optional<Times>> found;
    for (const Slice& op : trace->ofKind(ActivityKind::CpuOp))
        found[std::string(trace->name(op))] = times.find(op.id);
    return found;
}

Times us(std::int64_t total, std::int64_t self)
{
    return {Nanoseconds{total * 1000}, Nanoseconds{self * 1000}};
}

TEST(OpDeviceTimes, AreThoseOfTheWorkLaunchedInside)
{
    const auto times = timesOf(R"(
        main
          op outer 0 100
          op inner 10 30
          call cudaLaunchKernel 15 4 corr=1
          op second 50 10
          call cudaLaunchKernel 52 1 corr=2
          call cudaMemcpyAsync 70 2 corr=3
          op host 110 10
          call cudaLaunchKernel 130 1 corr=4
        stream 0 7
          kernel a 20 30 corr=1
          kernel b 60 20 corr=2
          copy HtoD 80 5 corr=3
          kernel c 140 50 corr=4
    )");
    EXPECT_EQ(times.at("inner"), us(30, 30));
    EXPECT_EQ(times.at("second"), us(20, 20));
    EXPECT_EQ(times.at("outer"), us(55, 5));
    EXPECT_EQ(times.at("host"), std::nullopt);
}

TEST(OpDeviceTimes, CountWorkOnceAndAllKernelsOfAGraph)
{
    const auto times = timesOf(R"(
        main
          op launch 0 20
          call cudaLaunchKernel 5 10 corr=1
          driver cuLaunchKernel 6 5 corr=1
          op graph 30 20
          call cudaGraphLaunch 35 10 corr=2
        stream 0 7
          kernel a 20 30 corr=1
          kernel b 60 3 corr=2
          kernel c 70 4 corr=2
    )");
    EXPECT_EQ(times.at("launch"), us(30, 30));
    EXPECT_EQ(times.at("graph"), us(7, 7));
}

TEST(OpDeviceTimes, BelongToTheThreadOfTheCall)
{
    const auto times = timesOf(R"(
        main
          op forward 0 100
        thread autograd
          op backward 10 50
          call cudaLaunchKernel 20 4 corr=9
        stream 0 7
          kernel a 30 8 corr=9
    )");
    EXPECT_EQ(times.at("forward"), std::nullopt);
    EXPECT_EQ(times.at("backward"), us(8, 8));
}

TEST(OpDeviceTimes, NeedRecordedCalls)
{
    EXPECT_TRUE(OpDeviceTimes(*traceFromText("main\n op a 0 10\nstream 0 7\n kernel k 2 5 corr=1")).empty());
    EXPECT_TRUE(OpDeviceTimes(*traceFromText("main\n op a 0 10\n call cudaLaunchKernel 1 1 corr=1")).empty());
}

TEST(OpDeviceTimes, StopWhenAsked)
{
    std::stop_source source;
    source.request_stop();
    const auto trace = traceFromText(R"(
        main
          op a 0 10
          call cudaLaunchKernel 1 1 corr=1
        stream 0 7
          kernel k 2 5 corr=1
    )");
    EXPECT_FALSE(OpDeviceTimes(*trace).empty());
    EXPECT_TRUE(OpDeviceTimes(*trace, source.get_token()).empty());
}

} // namespace
