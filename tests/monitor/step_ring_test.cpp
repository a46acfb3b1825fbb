#include "profiler/monitor/recording_watch.h"
#include "profiler/monitor/step_ring.h"
#include "tests/support/temporary_folder.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <random>
#include <string>

// Rings as resources/formats/stepscope_steps.md describes them, written byte by byte: whole, overwritten and damaged.
namespace profiler::monitor {
namespace {

using testing::SizeIs;

constexpr std::uint32_t kStepSlots = 16, kMinuteSlots = 4;
constexpr std::int64_t kBegin = 1'800'000'000'000'000'000;

template <class Value>
void put(std::string& bytes, std::size_t at, Value value)
{
    if (bytes.size() < at + sizeof value)
        bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A file after so many steps of 10 ms, each with 4 ms of data wait and a backward pass after 6 ms.
std::string ring(std::uint64_t steps, std::int64_t rank = 0, std::int64_t late = 0)
{
    std::string bytes(4096, '\0');
    bytes.replace(0, 8, "SSSTEPS1");
    for (const auto& [at, value] :
         {std::pair{8, 1U}, {12, 4096U}, {16, 64U}, {20, kStepSlots}, {24, 80U}, {28, kMinuteSlots}})
        put(bytes, static_cast<std::size_t>(at), value);
    put(bytes, 32, steps);
    put(bytes, 48, std::uint64_t{1});
    const std::string about =
        R"({"rank":)" + std::to_string(rank) + R"(,"world_size":2,"host":"box","pid":42,"started_ns":7})";
    put(bytes, 56, static_cast<std::uint32_t>(about.size()));
    bytes.replace(64, about.size(), about);
    const std::size_t stepsAt = 4096 + kMinuteSlots * 80;
    for (std::uint64_t i = 0; i < steps; ++i) {
        const std::size_t at = stepsAt + i % kStepSlots * 64;
        put(bytes, at, i + 1);
        put(bytes, at + 8, kBegin + static_cast<std::int64_t>(i + 1) * 10'000'000);
        put(bytes, at + 16, static_cast<std::uint32_t>(i));
        put(bytes, at + 24, 10'000U);
        put(bytes, at + 28, 4'000U);
        put(bytes, at + 56, static_cast<std::uint32_t>(6'000 + late));
        put(bytes, at + 60, 32U);
    }
    return bytes;
}

class StepRingTest : public testing::Test {
protected:
    std::filesystem::path write(const std::string& bytes, const std::string& name = "rank0.steps") const
    {
        std::ofstream(m_folder.path() / name, std::ios::binary) << bytes;
        return m_folder.path() / name;
    }
    test_support::TemporaryFolder m_folder;
};

TEST_F(StepRingTest, StepsHaveTheValuesOfTheirColumns)
{
    const auto read = readStepRing(write(ring(3)), 100, 100);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->owner.host, "box");
    EXPECT_EQ(read->owner.pid, 42);
    EXPECT_TRUE(read->ended);
    ASSERT_THAT(read->newestSteps, SizeIs(3));
    const RingStep& last = read->newestSteps.back();
    EXPECT_EQ(last.index, 2);
    EXPECT_EQ(last.duration, std::chrono::milliseconds(10));
    EXPECT_EQ(last.parts[0], std::chrono::milliseconds(4));
    EXPECT_EQ(last.arrival, std::chrono::milliseconds(6));
    EXPECT_EQ(last.samples, 32);
    EXPECT_FALSE(last.captured);
}

TEST_F(StepRingTest, OnlyTheNewestStepsAreLeft)
{
    const auto read = readStepRing(write(ring(37)), 100, 100);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->steps, 37U);
    // The slot that is written next may be half written.
    ASSERT_THAT(read->newestSteps, SizeIs(kStepSlots - 1));
    EXPECT_EQ(read->newestSteps.front().index, 22);
    EXPECT_EQ(read->newestSteps.back().index, 36);
    EXPECT_THAT(readStepRing(m_folder.path() / "rank0.steps", 5, 0)->newestSteps, SizeIs(5));
}

TEST_F(StepRingTest, TheStatusIsOfTheRecentSteps)
{
    write(ring(10));
    write(ring(10, 1, 2'000), "rank1.steps");
    RecordingWatch watch(m_folder.path());
    const auto status = watch.look();
    ASSERT_TRUE(status);
    ASSERT_THAT(status->ranks, SizeIs(2));
    const RankStatus& second = status->ranks[1];
    EXPECT_EQ(second.state, RankState::Ended);
    EXPECT_EQ(second.lastIndex, 9);
    EXPECT_DOUBLE_EQ(second.p50Us, 10'000);
    EXPECT_DOUBLE_EQ(second.partUs[0], 4'000);
    EXPECT_DOUBLE_EQ(second.stepsPerSecond, 100);
    EXPECT_DOUBLE_EQ(second.samplesPerSecond.value_or(0), 3'200);
    EXPECT_DOUBLE_EQ(second.lateUs.value_or(-1), 2'000);
    EXPECT_DOUBLE_EQ(status->ranks[0].lateUs.value_or(-1), 0);
}

TEST_F(StepRingTest, OtherFilesAreErrors)
{
    std::string newer = ring(3);
    put(newer, 8, 2U);
    for (const std::string& bytes : {std::string(), std::string("SSSTEPS1"), std::string(5000, 'x'), newer}) {
        const auto read = readStepRing(write(bytes), 10, 10);
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().what.id, "monitor.ring.malformed");
    }
    EXPECT_EQ(readStepRing(m_folder.path() / "none", 10, 10).error().what.id, "monitor.ring.unreadable");
}

TEST_F(StepRingTest, DamagedFilesAreReadWithoutHarm)
{
    std::mt19937 random(1);
    const std::string whole = ring(37);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes = whole;
        if (round % 3 == 0)
            bytes.resize(random() % bytes.size());
        // The header and the records; the rest of the first block is unused.
        for (int i = 0; i < 4 && !bytes.empty(); ++i)
            bytes[(random() % 2 == 0 ? random() % 160 : 4096 + random() % 1400) % bytes.size()] =
                static_cast<char>(random());
        write(bytes);
        const auto read = readStepRing(m_folder.path() / "rank0.steps", 100, 100);
        EXPECT_TRUE(!read || read->newestSteps.size() <= 100);
        RecordingWatch watch(m_folder.path());
        EXPECT_TRUE(watch.look());
    }
}

} // namespace
} // namespace profiler::monitor
