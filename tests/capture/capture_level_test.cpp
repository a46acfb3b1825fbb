#include "tests/trainer/trainer_run.h"

#include <gmock/gmock.h>
#include <set>
#include <sstream>

using namespace trainer_test;

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

std::vector<std::vector<std::string>> linesOf(const std::string& text)
{
    std::vector<std::vector<std::string>> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) {
        std::istringstream fields(line);
        lines.emplace_back();
        for (std::string field; std::getline(fields, field, '\t');)
            lines.back().push_back(field);
    }
    return lines;
}

std::shared_ptr<const profiler::Trace> traced(const TestFolder& folder, const std::string& level)
{
    const Finished run = train(folder.path(), {"run.steps=6", "capture.ops_every=1", "capture.level=" + level});
    EXPECT_EQ(run.ended.status, 0) << run.ended.output;
    return run.trace ? run.trace : std::make_shared<profiler::Trace>();
}

} // namespace

TEST(CaptureLevel, FullRecordsShapesAndAllocations)
{
    const TestFolder folder;
    const auto trace = traced(folder, "full");
    EXPECT_GT(opsWithShapes(*trace), 0U);
    EXPECT_GT(samplesOf(*trace, "CPU memory allocated"), 0U);
    ASSERT_TRUE(trace->metadata().contains("memory.peak.cpu"));
    EXPECT_GT(std::stoll(trace->metadata().at("memory.peak.cpu")), 0);
}

TEST(CaptureLevel, ThePeakListsTheAllocationsThatWereAlive)
{
    const TestFolder folder;
    const auto trace = traced(folder, "full");
    const std::int64_t peak = std::stoll(trace->metadata().at("memory.peak.cpu"));
    const auto alive = linesOf(trace->metadata().at("memory.peak.cpu.alive"));
    std::int64_t sum = 0, last = peak + 1;
    std::set<std::string> phases, operators;
    for (const auto& line : alive) {
        ASSERT_THAT(line, testing::SizeIs(5)) << "bytes, blocks, step, phase, operator";
        const std::int64_t bytes = std::stoll(line[0]);
        sum += bytes;
        EXPECT_GE(std::stoll(line[1]), 1);
        if (line[2] == "rest")
            continue;
        EXPECT_LE(bytes, last) << "the largest come first";
        last = bytes;
        EXPECT_TRUE(line[2] == "-" || (std::stoi(line[2]) >= 0 && std::stoi(line[2]) < 6)) << line[2];
        phases.insert(line[3]);
        operators.insert(line[4]);
    }
    EXPECT_LE(sum, peak);
    EXPECT_GE(static_cast<double>(sum), 0.99 * static_cast<double>(peak));
    EXPECT_THAT(phases, testing::IsSupersetOf({"forward", "backward"})) << "activations and gradients";
    EXPECT_THAT(operators, testing::Contains(testing::StartsWith("aten::"))) << "operators that the layers called";
}

TEST(CaptureLevel, StandardRecordsOperatorsWithoutShapesAndAllocations)
{
    const TestFolder folder;
    const auto trace = traced(folder, "standard");
    EXPECT_FALSE(trace->ofKind(profiler::ActivityKind::CpuOp).empty());
    EXPECT_EQ(opsWithShapes(*trace), 0U);
    EXPECT_EQ(samplesOf(*trace, "CPU memory allocated"), 0U);
}

TEST(CaptureLevel, AlwaysRecordsNoOperators)
{
    const TestFolder folder;
    const auto trace = traced(folder, "always");
    EXPECT_TRUE(trace->ofKind(profiler::ActivityKind::CpuOp).empty());
    EXPECT_FALSE(trace->ofKind(profiler::ActivityKind::Phase).empty());
}
