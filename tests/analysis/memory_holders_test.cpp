#include "profiler/analysis/memory/memory_over_time.h"

#include "profiler/model/trace_builder.h"

#include <gmock/gmock.h>

namespace analysis_test {

using namespace profiler;
using namespace profiler::analysis;

namespace {

std::shared_ptr<const Trace> traceWith(const std::map<std::string, std::string>& metadata)
{
    TraceBuilder builder;
    for (const auto& [key, value] : metadata)
        builder.setMetadata(key, value);
    return builder.finish();
}

} // namespace

TEST(MemoryHolders, ATraceWithoutMemoryRecordsHasNone)
{
    EXPECT_TRUE(memoryMoments(*traceWith({{"workload", "convnet"}})).empty());
}

TEST(MemoryHolders, ListTheAllocationsAtThePeak)
{
    const auto moments = memoryMoments(*traceWith(
        {{"memory.peak.cpu", "7000"},
         {"memory.peak.cpu.alive", "1000\t1\t-\t-\t-\n4000\t2\t3\tforward\taten::conv2d\n900\t30\trest\trest\trest\n"
                                   "1000\t4\t3\tbackward\t-\n"},
         {"memory.peak.gpu1", "12"}}));
    ASSERT_EQ(moments.size(), 2U);
    const MemoryMoment& cpu = moments[0];
    EXPECT_EQ(cpu.place, "CPU");
    EXPECT_FALSE(cpu.ranOut);
    EXPECT_EQ(cpu.bytes, 7000);
    EXPECT_FALSE(cpu.asked);
    ASSERT_EQ(cpu.alive.size(), 4U);
    EXPECT_EQ(cpu.alive[0].op, "aten::conv2d");
    EXPECT_EQ(cpu.alive[0].phase, "forward");
    EXPECT_EQ(cpu.alive[0].step, 3);
    EXPECT_EQ(cpu.alive[0].blocks, 2);
    EXPECT_FALSE(cpu.alive[1].step) << "allocated outside of all steps";
    EXPECT_EQ(cpu.alive[1].op, "");
    EXPECT_TRUE(cpu.alive[3].rest) << "the sum of the smaller ones is last, whatever its size";
    EXPECT_EQ(cpu.alive[3].blocks, 30);
    EXPECT_EQ(moments[1].place, "GPU 1");
    EXPECT_TRUE(moments[1].alive.empty());
}

TEST(MemoryHolders, OutOfMemoryComesFirst)
{
    const auto moments = memoryMoments(*traceWith({{"memory.peak.gpu0", "100"},
                                                   {"memory.out.gpu0", "90"},
                                                   {"memory.out.gpu0.asked", "64"},
                                                   {"memory.out.gpu0.alive", "90\t1\t5\tforward\taten::mm\n"}}));
    ASSERT_EQ(moments.size(), 2U);
    EXPECT_TRUE(moments[0].ranOut);
    EXPECT_EQ(moments[0].place, "GPU 0");
    EXPECT_EQ(moments[0].asked, 64);
    EXPECT_EQ(moments[0].alive.front().op, "aten::mm");
    EXPECT_FALSE(moments[1].ranOut);
}

// The metadata of a file may contain anything.
TEST(MemoryHolders, UnreadableLinesAreSkipped)
{
    const auto moments = memoryMoments(
        *traceWith({{"memory.peak.", "1"},
                    {"memory.peak.gpux", "1"},
                    {"memory.peak.cpu", "5"},
                    {"memory.peak.cpu.alive",
                     "\n\t\t\t\t\nmuch\t1\t-\t-\t-\n-5\t1\t-\t-\t-\n5\t1\n99999999999999999999\t1\t-\t-\t-"},
                    {"memory.peak.gpu0", "lots"},
                    {"memory.peak.gpu1", "-9223372036854775808"},
                    {"memory.out.gpu1", "-1"},
                    {"memory.peak.cpu.asked", "-64"}}));
    ASSERT_EQ(moments.size(), 1U);
    EXPECT_FALSE(moments[0].asked);
    ASSERT_EQ(moments[0].alive.size(), 1U);
    EXPECT_EQ(moments[0].alive[0].bytes, 5);
    EXPECT_EQ(moments[0].alive[0].op, "");
}

} // namespace analysis_test
