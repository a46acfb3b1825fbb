#include "profiler/formats/container/spill_file.h"
#include "tests/profiler/packed_trace.h"
#include "tests/support/message_matchers.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <random>
#include <stop_token>
#include <sys/resource.h>
#include <unistd.h>

// Traces that exceed their memory budget.
namespace {

using namespace profiler;
using container::SpillFile;
using profiler::test::hasId;
using profiler::test::hasIdAndPart;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kPieces = 16, kInPiece = 5000; ///< on each of two tracks

/// Pieces of two tracks. Each piece is almost sorted, and starts later than the previous one, but before its end; every
/// other piece has given depths.
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

TEST(Spill, YieldsTheSameTraceAsInMemory)
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

TEST(Spill, SlicesThatCannotBeWrittenStayInMemory)
{
    const auto expected = inMemory();
    TraceBuilder builder;
    builder.setSpill(spillFile(), kBudget);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before;
    limit.rlim_cur = 700'000; // room for some of the runs
    setrlimit(RLIMIT_FSIZE, &limit);
    fill(builder);
    const auto trace = builder.finish(2);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_THAT(trace->captureStats().notes,
                ElementsAre(hasIdAndPart("trace.not_spilled", "why", std::filesystem::temp_directory_path().string())));
    EXPECT_EQ(trace->captureStats().dropped, 0);
    packed_test::expectSame(*trace, *expected);
}

TEST(Spill, AMissingFolderIsNamed)
{
    const auto file = SpillFile::make("/nowhere/at/all", kBudget);
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().what, hasId("spill.make"));
    EXPECT_EQ(file.error().where, "/nowhere/at/all");
}

TEST(Spill, AStoppedBuilderReturnsNoTrace)
{
    TraceBuilder builder;
    fill(builder);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(builder.finish(2, stop.get_token()), nullptr);
}

constexpr int kSamples = 60'000; ///< in each of three counters

/// A sorted counter, an unsorted one, and an unsorted one of changes; 3 × 0.96 MB.
void fillCounters(TraceBuilder& builder)
{
    TrackId tracks[3];
    for (const int counter : {0, 1, 2}) {
        Track track;
        track.kind = TrackKind::Counter;
        track.name = "counter " + std::to_string(counter);
        tracks[counter] = builder.addTrack(std::move(track));
    }
    std::minstd_rand random;
    for (int first = 0; first < kSamples; first += 1000) {
        for (const int counter : {0, 1, 2}) {
            std::vector<CounterSample> samples;
            for (int i = first; i < first + 1000; ++i) {
                const int late = counter == 0 ? 0 : static_cast<int>(random() % 30'000);
                samples.push_back({traceTime(i * 10 - late), counter == 2 ? i % 7 - 3.0 : i * 0.5});
            }
            builder.addSamples(tracks[counter], std::move(samples),
                               counter == 2 ? SampleMeaning::Change : SampleMeaning::Value);
        }
    }
}

void expectSameCounters(const Trace& trace, const Trace& expected)
{
    for (const Track& track : expected.tracks()) {
        const auto some = trace.counter(track.id), others = expected.counter(track.id);
        ASSERT_EQ(some.size(), static_cast<std::size_t>(kSamples));
        ASSERT_EQ(others.size(), some.size());
        for (std::size_t i = 0; i < some.size(); ++i) {
            ASSERT_EQ(some[i].time, others[i].time) << track.name << ' ' << i;
            ASSERT_EQ(some[i].value, others[i].value) << track.name << ' ' << i;
        }
    }
}

std::shared_ptr<const Trace> countersInMemory()
{
    TraceBuilder builder;
    fillCounters(builder);
    return builder.finish();
}

constexpr std::uint64_t kCounterBudget = 300'000;

TEST(Spill, ContainsCountersToo)
{
    const auto expected = countersInMemory();
    ASSERT_GE(expected->memoryBytes(), std::size_t{3} * kSamples * sizeof(CounterSample));
    // Changes are summed: the last value is the sum of all of them.
    double sum = 0;
    for (int i = 0; i < kSamples; ++i)
        sum += i % 7 - 3.0;
    EXPECT_EQ(expected->counter(TrackId{2}).back().value, sum);
    TraceBuilder builder;
    builder.setSpill(spillFile(), kCounterBudget);
    fillCounters(builder);
    const auto trace = builder.finish();
    EXPECT_LT(trace->memoryBytes(), kCounterBudget + 50'000);
    EXPECT_THAT(trace->captureStats().notes, IsEmpty());
    expectSameCounters(*trace, *expected);
    EXPECT_EQ(trace->unread().samples, 0U);
}

TEST(Spill, CountersThatCannotBeWrittenStayInMemory)
{
    const auto expected = countersInMemory();
    TraceBuilder builder;
    builder.setSpill(spillFile(), kCounterBudget);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before;
    limit.rlim_cur = 60'000; // room for some of the runs
    setrlimit(RLIMIT_FSIZE, &limit);
    fillCounters(builder);
    const auto trace = builder.finish();
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_THAT(trace->captureStats().notes, ElementsAre(hasId("trace.not_spilled")));
    expectSameCounters(*trace, *expected);
}

/// Truncates the spill file of this process, which no longer has a name.
void emptySpillFile()
{
    int emptied = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
        if (target.find("stepscope-") != target.npos && target.ends_with(" (deleted)")) {
            ASSERT_EQ(::truncate(entry.path().c_str(), 0), 0);
            ++emptied;
        }
    }
    ASSERT_EQ(emptied, 1);
}

TEST(Spill, DataThatCannotBeReadBackIsCounted)
{
    TraceBuilder builder;
    builder.setSpill(spillFile(), kBudget);
    fill(builder);
    fillCounters(builder);
    const auto trace = builder.finish();
    ASSERT_GT(trace->sliceCount(), 0U);
    EXPECT_EQ(trace->unread().slices, 0U);
    EXPECT_THAT(trace->losses().notes, IsEmpty());
    emptySpillFile();
    for (int round = 0; round < 2; ++round) { // read each of them once
        std::size_t seen = 0, samples = 0;
        for (const Track& track : trace->tracks()) {
            seen += trace->sorted(track.id).size();
            samples += trace->counter(track.id).size();
        }
        const Unread missing = trace->unread();
        EXPECT_EQ(missing.slices, trace->sliceCount() - seen);
        EXPECT_GT(missing.slices, trace->sliceCount() / 2);
        EXPECT_EQ(missing.samples, std::size_t{3} * kSamples - samples);
        EXPECT_GT(missing.samples, std::size_t{kSamples});
        EXPECT_THAT(missing.why, HasSubstr(std::filesystem::temp_directory_path().string()));
    }
    EXPECT_THAT(trace->losses().notes, ElementsAre(hasId("trace.unread_slices"), hasId("trace.unread_samples")));
    EXPECT_THAT(trace->captureStats().notes, IsEmpty()) << "there was no note when it was opened";
}

TEST(Spill, IsReadWithoutAdditionalDescriptors)
{
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer checks object types through a pipe, and needs descriptors itself";
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
