#include "profiler/io/packed/spill_file.h"
#include "tests/profiler/packed_trace.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <random>
#include <stop_token>
#include <sys/resource.h>

// Traces that are larger than the memory they are given.
namespace {

using namespace profiler;
using packed::SpillFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kPieces = 16, kInPiece = 5000; ///< of each of two tracks

/// Pieces of two tracks, each nearly in order and later than the one before by less than its own length; the depths of
/// every other one are given.
void fill(TraceBuilder& builder)
{
    const std::uint32_t name = builder.intern("aten::mm").value;
    const TrackId tracks[] = {builder.addTrack({}), builder.addTrack({})};
    std::minstd_rand random;
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
        for (const TrackId track : tracks) {
            std::vector<RawSlice> slices(kInPiece);
            for (std::size_t i = 0; i < kInPiece; ++i) {
                RawSlice& slice = slices[i];
                slice.begin = static_cast<std::int64_t>(piece * kInPiece * 7 + i * 10 + random() % 50);
                slice.duration = static_cast<std::int64_t>(random() % 100);
                slice.kind = ActivityKind::CpuOp;
                slice.link = static_cast<std::int64_t>(random() % 100'000);
                slice.name = name;
                slice.depth = static_cast<std::uint8_t>(random() % 3);
                slice.setSource(1 + random() % 1'000'000);
            }
            builder.addMany(track, std::move(slices), piece % 2 == 0 ? Depth::Inferred : Depth::Given);
        }
    }
}

std::shared_ptr<const Trace> inMemory()
{
    TraceBuilder builder;
    fill(builder);
    return builder.finish();
}

constexpr std::uint64_t kBudget = 7 * kInPiece * sizeof(RawSlice);

std::shared_ptr<SpillFile> spillFile()
{
    auto file = SpillFile::make(std::filesystem::temp_directory_path(), kBudget);
    EXPECT_TRUE(file) << file.error().message();
    return file.value_or(nullptr);
}

TEST(Spill, GivesTheTraceThatMemoryWouldHaveHeld)
{
    const auto expected = inMemory();
    TraceBuilder builder;
    builder.setSpill(spillFile(), kBudget);
    fill(builder);
    const auto trace = builder.finish(2);
    EXPECT_LT(trace->memoryBytes(), expected->memoryBytes() / 4);
    EXPECT_THAT(trace->captureStats().notes, IsEmpty());
    packed_test::expectSame(*trace, *expected);
    for (std::uint32_t i = 0; i < kPieces * kInPiece; i += 4999)
        EXPECT_EQ(trace->slice({TrackId{0}, i}).source, expected->slice({TrackId{0}, i}).source);
}

TEST(Spill, WhatTheDiskDoesNotTakeStaysInMemory)
{
    const auto expected = inMemory();
    TraceBuilder builder;
    builder.setSpill(spillFile(), kBudget);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before;
    limit.rlim_cur = 700'000; // some runs, not all
    setrlimit(RLIMIT_FSIZE, &limit);
    fill(builder);
    const auto trace = builder.finish(2);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(HasSubstr("stays in memory all the same: cannot write to " +
                                                                   std::filesystem::temp_directory_path().string())));
    EXPECT_EQ(trace->captureStats().dropped, 0);
    packed_test::expectSame(*trace, *expected);
}

TEST(Spill, AFolderThatIsNotThereIsNamed)
{
    const auto file = SpillFile::make("/nowhere/at/all", kBudget);
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message(), HasSubstr("/nowhere/at/all"));
}

TEST(Spill, AStoppedBuilderGivesNothing)
{
    TraceBuilder builder;
    fill(builder);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(builder.finish(2, stop.get_token()), nullptr);
}

TEST(Spill, IsReadWithoutFurtherDescriptors)
{
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer looks at objects' types through a pipe, and needs descriptors itself";
#endif
    TraceBuilder builder;
    builder.setSpill(spillFile(), kBudget);
    fill(builder);
    const auto trace = builder.finish();
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit none = before;
    none.rlim_cur = 0;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    std::size_t seen = 0;
    for (const Track& track : trace->tracks())
        seen += trace->sorted(track.id).size();
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(seen, 2 * kPieces * kInPiece);
}

} // namespace
