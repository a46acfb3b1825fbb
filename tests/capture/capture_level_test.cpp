#include "tests/trainer/trainer_run.h"

#include <gmock/gmock.h>

using namespace trainer_test;
using testing::HasSubstr;

namespace {

std::size_t opsWithShapes(const profiler::Trace& trace)
{
    std::size_t count = 0;
    for (const profiler::Slice& op : trace.ofKind(profiler::ActivityKind::CpuOp))
        count += trace.string(op.args.shapes).starts_with("[[") ? 1 : 0;
    return count;
}

std::size_t samplesOf(const profiler::Trace& trace, std::string_view counter)
{
    for (const profiler::Track& track : trace.tracks())
        if (track.name == counter)
            return trace.counter(track.id).size();
    return 0;
}

std::shared_ptr<const profiler::Trace> traced(const TestFolder& folder, const std::string& level)
{
    const Finished run = train(folder.path(), {"run.steps=6", "capture.ops_every=1", "capture.level=" + level});
    EXPECT_EQ(run.ended.status, 0) << run.ended.output;
    return run.trace ? run.trace : std::make_shared<profiler::Trace>();
}

} // namespace

TEST(CaptureLevel, FullHasShapesAndAllocations)
{
    const TestFolder folder;
    const auto trace = traced(folder, "full");
    EXPECT_GT(opsWithShapes(*trace), 0U);
    EXPECT_GT(samplesOf(*trace, "CPU memory allocated"), 0U);
    ASSERT_TRUE(trace->metadata().contains("memory.peak.cpu"));
    EXPECT_GT(std::stoll(trace->metadata().at("memory.peak.cpu")), 0);
    // Who asked for what was alive, most first: "180516 forward".
    EXPECT_THAT(trace->metadata().at("memory.peak.cpu.alive"), HasSubstr("forward"));
}

TEST(CaptureLevel, StandardHasOperatorsWithoutThem)
{
    const TestFolder folder;
    const auto trace = traced(folder, "standard");
    EXPECT_FALSE(trace->ofKind(profiler::ActivityKind::CpuOp).empty());
    EXPECT_EQ(opsWithShapes(*trace), 0U);
    EXPECT_EQ(samplesOf(*trace, "CPU memory allocated"), 0U);
}

TEST(CaptureLevel, AlwaysHasNoOperators)
{
    const TestFolder folder;
    const auto trace = traced(folder, "always");
    EXPECT_TRUE(trace->ofKind(profiler::ActivityKind::CpuOp).empty());
    EXPECT_FALSE(trace->ofKind(profiler::ActivityKind::Phase).empty());
}
