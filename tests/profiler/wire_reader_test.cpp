#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/os/file_lock.h"
#include "tests/profiler/wire_file.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using namespace profiler;
using namespace profiler::container;
using namespace wire_test;
using profiler::test::hasId;
using test_support::traceToText;
using testing::Contains;
using testing::IsEmpty;

constexpr const char* kEverythingAsText = R"(format stepscope
meta clock.realtime_minus_monotonic_ns 4000
meta workload convnet
device 0 "NVIDIA H100" GPU-1
lost dropped=3 unmatched=1
main
  step 4 1 1
    phase forward 1.1 0.4 value=4 depth=1
      op relu 1.2 0.1 seq=9 depth=2
    op relu_backward 1.6 0.1 seq=9 depth=1 backward
  phase "data wait" 2 open value=5
worker 0
  stage read 1 1.5 value=4 bytes=512
stream 0 7
  copy HtoD 1.3 0.1 bytes=5000000000 src=pageable dst=device corr=41
  kernel gemm 1.4 0.05 corr=42
counter loss unit=nats
  sample 1.8 0.5
)";

TEST(WireReader, ReadsEveryTypeOfFrame)
{
    const TestFolder folder;
    std::vector<double> shares;
    ReadOptions options;
    options.progress = [&](double share) { shares.push_back(share); };
    const auto trace = readTrace(folder.write("a.sstrace", everything().bytes()), options);
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_EQ(traceToText(**trace), kEverythingAsText);
    EXPECT_EQ((*trace)->sliceCount(), kSlicesOfEverything);
    ASSERT_FALSE(shares.empty());
    EXPECT_EQ(shares.back(), 1);
}

// One pass over the tracks for all names of a frame, because a forged file may have any number of both.
TEST(WireReader, ProcessNamesAreAppliedToExistingTracks)
{
    constexpr std::int64_t kTracks = 20'000;
    const MemoryFile memory;
    WireFile file;
    file.strings({{1, "thread"}, {2, "python"}, {3, "python train.py"}});
    for (std::uint32_t number = 0; number < kTracks; ++number)
        file.track(number, {.track = number,
                            .kind = 0,
                            .name = 1,
                            .unit = 0,
                            .pid = 100 + number,
                            .tid = 1,
                            .device = 0,
                            .stream = 0});
    std::vector<ProcessEntry> entries;
    for (const std::uint32_t name : {2U, 3U})
        for (std::int64_t pid = 0; pid < kTracks; ++pid)
            entries.push_back({.pid = 100 + pid, .name = name, .reserved = 0});
    file.frame(FrameType::Process, std::as_bytes(std::span{entries})).end();
    const auto trace = readTrace(memory.write(file.bytes()));
    ASSERT_TRUE(trace) << trace.error().message();
    ASSERT_EQ((*trace)->tracks().size(), static_cast<std::size_t>(kTracks));
    for (const Track& track : (*trace)->tracks())
        ASSERT_EQ(track.processName, "python train.py");
}

TEST(WireReader, ErrorsDescribeTheProblem)
{
    const TestFolder folder;
    const auto error = [&](const std::filesystem::path& path) {
        const auto trace = readTrace(path);
        return trace ? Error{} : trace.error();
    };
    EXPECT_EQ(error(folder / "missing").code, Error::Code::NotFound);
    EXPECT_EQ(error(folder / ".").code, Error::Code::Invalid);
    EXPECT_THAT(error(folder.write("empty", {})).what, hasId("trace.empty"));
    const std::string_view other = "{\"traceEvents\": [";
    EXPECT_THAT(error(folder.write("other", std::as_bytes(std::span{other}))).what, hasId("trace.no_trace"));

    auto bytes = everything().bytes();
    auto header =
        std::bit_cast<FileHeader>(*reinterpret_cast<const std::array<std::byte, sizeof(FileHeader)>*>(bytes.data()));
    const auto withHeader = [&] {
        const auto raw = std::as_bytes(std::span{&header, 1});
        std::copy(raw.begin(), raw.end(), bytes.begin());
        return folder.write("changed", bytes);
    };
    header.version = kVersion + 1;
    EXPECT_EQ(error(withHeader()).code, Error::Code::Unsupported);
    EXPECT_THAT(error(withHeader()).what, hasId("trace.newer"));
    header.version = 0;
    EXPECT_EQ(error(withHeader()).code, Error::Code::Malformed);
    header.version = kVersion;
    header.headerBytes = 31;
    EXPECT_EQ(error(withHeader()).code, Error::Code::Malformed);
    header.headerBytes = 0xffffffff;
    EXPECT_EQ(error(withHeader()).code, Error::Code::Malformed);
}

TEST(WireReader, ShowsPreviewsWhileReading)
{
    const TestFolder folder;
    std::vector<std::shared_ptr<const Trace>> shown;
    ReadOptions options;
    options.preview = [&](std::shared_ptr<const Trace> trace) { shown.push_back(std::move(trace)); };
    options.previewAfter = std::chrono::milliseconds(0);
    const auto trace = readTrace(folder.write("a.sstrace", everything().bytes()), options);
    ASSERT_TRUE(trace) << trace.error().message();
    ASSERT_FALSE(shown.empty());
    EXPECT_GT(shown.back()->sliceCount(), 0U);
    EXPECT_FALSE(shown.back()->captureStats().live);
    EXPECT_EQ(traceToText(**trace), kEverythingAsText) << "a preview has no effect on the result";
}

TEST(WireReader, ASealedRecordingIsTheSameTraceAndHasEnded)
{
    const TestFolder folder;
    const auto live = readTrace(folder.write("a.sstrace", everything().bytes()));
    ASSERT_TRUE(live) << live.error().message();
    ASSERT_TRUE(writeTrace(**live, folder.path() / "b.sstrace"));
    auto reader = TailingReader::open(folder.path() / "b.sstrace");
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_TRUE((*reader)->ended());
    EXPECT_FALSE((*reader)->poll().value());
    EXPECT_EQ(traceToText(*(*reader)->snapshot()), kEverythingAsText);
}

TEST(WireReader, AKilledRecordingIsSealedInPlace)
{
    const TestFolder folder;
    auto bytes = everything().bytes();
    bytes.resize(bytes.size() - 10); // within the End frame
    const auto path = folder.write("a.sstrace", bytes);
    const auto live = readTrace(path);
    ASSERT_TRUE(live) << live.error().message();
    EXPECT_TRUE((*live)->captureStats().cut);
    folder.write("a.sstrace.ring", {});
    ASSERT_TRUE(sealTrace(path));
    EXPECT_FALSE(std::filesystem::exists(ringPath(path)));
    const auto sealed = readTrace(path);
    ASSERT_TRUE(sealed) << sealed.error().message();
    EXPECT_EQ((*sealed)->sliceCount(), (*live)->sliceCount());
    EXPECT_TRUE((*sealed)->captureStats().cut);
    EXPECT_TRUE(InputFile::open(path).and_then(readHeader).value().isSealed);
}

TEST(WireReader, ARecordingThatStillRunsIsNotSealed)
{
    const TestFolder folder;
    const auto path = folder.path() / "a.sstrace";
    const auto writer = FrameWriter::create(path, 1);
    ASSERT_TRUE(writer) << writer.error().message();
    const auto sealed = sealTrace(path);
    ASSERT_FALSE(sealed);
    EXPECT_THAT(sealed.error().what, hasId("seal.live"));
    EXPECT_FALSE(InputFile::open(path).and_then(readHeader).value().isSealed);
}

TEST(WireReader, CanBeCancelled)
{
    const TestFolder folder;
    std::stop_source source;
    source.request_stop();
    ReadOptions options;
    options.stop = source.get_token();
    const auto trace = readTrace(folder.write("a.sstrace", everything().bytes()), options);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().code, Error::Code::Cancelled);
}

TEST(WireReader, FollowsAFileThatGrowsByteByByte)
{
    const MemoryFile memory;
    const WireFile file = everything();
    const auto& bytes = file.bytes();
    const auto path = memory.write(std::span{bytes}.first(sizeof(FileHeader)));
    auto reader = TailingReader::open(path);
    ASSERT_TRUE(reader);
    EXPECT_TRUE((*reader)->snapshot()->captureStats().live);
    std::size_t news = 0;
    for (std::size_t size = sizeof(FileHeader) + 1; size <= bytes.size(); ++size) {
        memory.write(std::span{bytes}.first(size));
        const auto polled = (*reader)->poll();
        ASSERT_TRUE(polled) << polled.error().message();
        const auto& whole = file.boundaries();
        ASSERT_EQ(*polled, std::find(whole.begin(), whole.end(), size) != whole.end()) << size;
        news += *polled ? 1 : 0;
        if (*polled) {
            ASSERT_NE((*reader)->snapshot(), nullptr);
        }
    }
    EXPECT_EQ(news, file.boundaries().size() - 1);
    EXPECT_TRUE((*reader)->ended());
    const auto trace = (*reader)->snapshot();
    EXPECT_EQ(traceToText(*trace), kEverythingAsText);
    EXPECT_EQ((*reader)->snapshot(), trace) << "without new data, the snapshot is the same";
    EXPECT_FALSE(*(*reader)->poll());
}

TEST(WireReader, WaitsIfAnUnfinishedFrameIsRemoved)
{
    // As a writer does when its disk is full.
    const TestFolder folder;
    const WireFile file = everything();
    const std::size_t whole = file.boundaries()[5];
    const auto path = folder.write("a.sstrace", std::span{file.bytes()}.first(whole + 30));
    auto reader = TailingReader::open(path);
    ASSERT_TRUE((*reader)->poll());
    folder.write("a.sstrace", std::span{file.bytes()}.first(whole));
    EXPECT_FALSE(*(*reader)->poll());
    folder.write("a.sstrace", file.bytes());
    EXPECT_TRUE(*(*reader)->poll());
    EXPECT_THAT((*reader)->snapshot()->captureStats().notes, IsEmpty());
    folder.write("a.sstrace", std::span{file.bytes()}.first(whole));
    EXPECT_FALSE(*(*reader)->poll()) << "data after the End frame is ignored";
}

TEST(WireReader, ReportsAShrinkingFile)
{
    const TestFolder folder;
    const WireFile file = everything();
    const auto path = folder.write("a.sstrace", std::span{file.bytes()}.first(file.boundaries()[5]));
    auto reader = TailingReader::open(path);
    ASSERT_TRUE((*reader)->poll());
    folder.write("a.sstrace", std::span{file.bytes()}.first(file.boundaries()[4]));
    const auto polled = (*reader)->poll();
    ASSERT_FALSE(polled);
    EXPECT_THAT(polled.error().what, hasId("trace.shorter"));
}

TEST(WireReader, LaterEntriesChangeTracks)
{
    const TestFolder folder;
    TrackEntry thread{};
    thread.name = 1;
    TrackEntry worker{};
    worker.kind = static_cast<std::uint32_t>(TrackKind::LoaderWorker);
    worker.name = 2;
    worker.tid = 5;
    WireFile file;
    file.strings({{1, "thread 5"}, {2, "loader worker 0"}}).track(4, thread);
    file.track(4, worker).end();
    const auto trace = readTrace(folder.write("a.sstrace", file.bytes()));
    ASSERT_TRUE(trace);
    EXPECT_EQ(traceToText(**trace), "format stepscope\nworker 0 tid=5\n");
}

TEST(WireReader, NamesUndefinedReferences)
{
    const TestFolder folder;
    const EventRecord op = record(EventType::Slice, ActivityKind::CpuOp, 0xfffffff0, 0, 1000, -1);
    const EventRecord sample = record(EventType::Counter, ActivityKind::Other, 8, 0, 0);
    WireFile file;
    file.events(0xfffffff1, 0, {&op, 1}).events(7, 0, {&sample, 1}).end();
    const auto trace = readTrace(folder.write("a.sstrace", file.bytes()));
    ASSERT_TRUE(trace);
    EXPECT_EQ(traceToText(**trace), R"text(format stepscope
thread "(lost name of track 4294967281)"
  op "(lost name 4294967280)" 0 1
thread "(lost name of track 7)"
counter "(lost name of track 8)"
  sample 0 0
)text");
}

TEST(WireReader, CountsInvalidRecords)
{
    const TestFolder folder;
    EventRecord strange = record(EventType::Slice, static_cast<ActivityKind>(200), 0, 50, 10);
    strange.flags = 0xff;
    const EventRecord records[] = {strange, record(static_cast<EventType>(77), ActivityKind::CpuOp, 0, 0, 1),
                                   record(EventType::Extra, ActivityKind::Other, 0, 0, 0),
                                   record(EventType::Device, ActivityKind::Kernel, 0, 60, 70, 1)};
    WireFile file;
    file.events(0, kNotFromRing, records).end();
    const auto trace = readTrace(folder.write("a.sstrace", file.bytes()));
    ASSERT_TRUE(trace);
    EXPECT_EQ((*trace)->captureStats().unmatched, 4U);
    const auto slices = (*trace)->sorted(TrackId{0});
    ASSERT_EQ(slices.size(), 2U);
    EXPECT_EQ(slices[0].kind, ActivityKind::Other);
    EXPECT_EQ(slices[0].duration.count(), 0);
    EXPECT_EQ(slices[0].flags, slice_flag::kOpen | slice_flag::kBackward | slice_flag::kAsync);
    EXPECT_EQ(slices[1].correlation.value, 1U);
}

/// A ring file with three ops, the first of which is also in the trace file.
void makeRing(const std::filesystem::path& trace, std::uint64_t runId)
{
    const RingLayout layout{2, 16, 8, 4096};
    auto ring = LiveRing::create(ringPath(trace), layout, runId);
    ASSERT_TRUE(ring) << ring.error().message();
    ASSERT_TRUE((*ring)->publish());
    static_cast<void>((*ring)->putString(0, ""));
    static_cast<void>((*ring)->putString(1, "main thread"));
    static_cast<void>((*ring)->putString(2, "op"));
    TrackEntry track{};
    track.name = 1;
    track.kind = static_cast<std::uint32_t>(TrackKind::MainThread);
    (*ring)->putTrack(track);
    const auto lane = (*ring)->addLane(0);
    ASSERT_TRUE(lane);
    for (int i = 0; i < 3; ++i)
        lane->records[i] = record(EventType::Slice, ActivityKind::CpuOp, 2, i * 1000, i * 1000 + 500, -1);
    lane->header->written = 3;
    (*ring)->countLoss(5, 0);
}

WireFile killed(std::int64_t pid)
{
    TrackEntry track{};
    track.name = 1;
    track.kind = static_cast<std::uint32_t>(TrackKind::MainThread);
    const EventRecord op = record(EventType::Slice, ActivityKind::CpuOp, 2, 0, 500, -1);
    WireFile file{pid};
    file.strings({{0, ""}, {1, "main thread"}, {2, "op"}}).track(0, track).events(0, 0, {&op, 1});
    return file;
}

TEST(WireReader, CompletesAKilledRunFromItsRingFile)
{
    const TestFolder folder;
    const auto path = folder.write("a.sstrace", killed(WireFile::kNoProcess).bytes());
    makeRing(path, WireFile::kRunId);
    const auto trace = readTrace(path);
    ASSERT_TRUE(trace);
    const auto& stats = (*trace)->captureStats();
    EXPECT_TRUE(stats.cut);
    EXPECT_FALSE(stats.live);
    EXPECT_EQ(stats.dropped, 5U);
    EXPECT_THAT(stats.notes, Contains(hasId("trace.last_moments", {{"count", 2}})));
    EXPECT_EQ((*trace)->sliceCount(), 3U) << "the event that is in both files counts once";
}

TEST(WireReader, IgnoresTheRingFileOfAnotherRun)
{
    const TestFolder folder;
    const auto path = folder.write("a.sstrace", killed(WireFile::kNoProcess).bytes());
    makeRing(path, WireFile::kRunId + 1);
    const auto trace = readTrace(path);
    ASSERT_TRUE(trace);
    EXPECT_TRUE((*trace)->captureStats().cut);
    EXPECT_EQ((*trace)->sliceCount(), 1U);
    EXPECT_THAT((*trace)->captureStats().notes, Contains(hasId("trace.last_moments_missing")));
}

TEST(WireReader, ATraceIsLiveWhileItsWriterHoldsTheLock)
{
    const TestFolder folder;
    const auto path = folder.write("a.sstrace", killed(getpid()).bytes());
    makeRing(path, WireFile::kRunId);
    const auto unlocked = readTrace(path);
    ASSERT_TRUE(unlocked);
    EXPECT_TRUE((*unlocked)->captureStats().cut) << "a live process has the writer's pid, but does not hold the lock";
    const int writer = open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_TRUE(os::lockWholeFile(writer));
    const auto trace = readTrace(path);
    ASSERT_TRUE(trace);
    EXPECT_TRUE((*trace)->captureStats().live);
    EXPECT_FALSE((*trace)->captureStats().cut);
    EXPECT_EQ((*trace)->sliceCount(), 1U);
    close(writer);
}

} // namespace
