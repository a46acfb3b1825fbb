#include "profiler/capture/recorder.h"

#include "profiler/formats/container/ring_file.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/message_matchers.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <set>
#include <thread>
#include <unistd.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using namespace std::chrono_literals;
using profiler::test::hasId;

namespace {

std::unique_ptr<Recorder> started(const RecorderOptions& options)
{
    auto recorder = Recorder::start(options);
    EXPECT_TRUE(recorder) << recorder.error().message();
    return std::move(*recorder);
}

void mark(ThreadBuffer& buffer, std::string_view name)
{
    buffer.push(ActivityKind::CpuOp, buffer.intern(name), 0);
    buffer.pop();
}

} // namespace

TEST(Recorder, WritesACompleteFileAndRemovesTheRing)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace"});
    EXPECT_TRUE(std::filesystem::exists(container::ringPath(folder / "a.sstrace")));
    recorder->setMetadata("config", "{}");
    recorder->addDevice(DeviceId{1}, "Some GPU", "GPU-1234");
    mark(recorder->nameThisThread("main thread", TrackKind::MainThread), "op");
    ASSERT_TRUE(recorder->finish());
    ASSERT_TRUE(recorder->finish()) << "a second call has no effect";
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_TRUE(trace.ended);
    EXPECT_TRUE(trace.whole);
    EXPECT_TRUE(trace.problems.empty()) << trace.problems.front();
    EXPECT_EQ(trace.metadata.at("config"), "{}");
    ASSERT_EQ(trace.devices.size(), 1U);
    EXPECT_EQ(trace.strings.at(trace.devices[0].uuid), "GPU-1234");
    ASSERT_EQ(trace.tracks.size(), 1U);
    EXPECT_EQ(trace.tracks.at(0).tid, gettid());
    EXPECT_EQ(trace.tracks.at(0).kind, static_cast<std::uint32_t>(TrackKind::MainThread));
    EXPECT_EQ(trace.of("main thread").size(), 1U);
    ASSERT_FALSE(trace.clocks.empty());
    EXPECT_GT(trace.clocks[0].realtimeNs, trace.clocks[0].monotonicNs);
    EXPECT_EQ(folder.files(), 1U);
}

TEST(Recorder, FlushPutsEverythingRecordedIntoTheFile)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace", .drainEvery = 1h});
    mark(recorder->thisThread(), "before");
    ASSERT_TRUE(recorder->flush());
    mark(recorder->thisThread(), "after");
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    ASSERT_EQ(trace.events.size(), 1U);
    EXPECT_EQ(trace.name(trace.events[0]), "before");
    EXPECT_FALSE(trace.ended);
}

TEST(Recorder, DrainsOnItsOwn)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace", .drainEvery = 5ms});
    mark(recorder->thisThread(), "op");
    for (int i = 0; i < 1000 && parseTrace(folder / "a.sstrace").events.empty(); ++i)
        std::this_thread::sleep_for(5ms);
    EXPECT_EQ(parseTrace(folder / "a.sstrace").events.size(), 1U);
}

TEST(Recorder, AFullRingKeepsTheOldestEventsAndCountsDroppedOnes)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace", .ringEvents = 100, .drainEvery = 1h});
    ThreadBuffer& buffer = recorder->thisThread();
    for (int i = 0; i < 200; ++i)
        buffer.complete(ActivityKind::CpuOp, 0, traceTime(i), traceTime(i + 1));
    EXPECT_EQ(recorder->stats().dropped, 72U); // 100 is rounded up to 128
    ASSERT_TRUE(recorder->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_EQ(trace.events.size(), 128U);
    EXPECT_EQ(trace.events.back().record.begin, 127);
    EXPECT_EQ(trace.loss.dropped, 72U);
}

TEST(Recorder, RingsWrapAroundAndKeepTheOrder)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace", .ringEvents = 64, .drainEvery = 1h});
    ThreadBuffer& buffer = recorder->thisThread();
    for (int i = 0; i < 1000; ++i) {
        buffer.complete(ActivityKind::CpuOp, 0, traceTime(i), traceTime(i + 1));
        if (i % 37 == 0) {
            ASSERT_TRUE(recorder->flush());
        }
    }
    ASSERT_TRUE(recorder->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    ASSERT_EQ(trace.events.size(), 1000U);
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
        ASSERT_EQ(trace.events[i].record.begin, static_cast<std::int64_t>(i));
        ASSERT_EQ(trace.events[i].index, i);
    }
}

TEST(Recorder, EachThreadHasItsOwnTrack)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace"});
    mark(recorder->nameThisThread("main thread", TrackKind::MainThread), "a");
    EXPECT_EQ(&recorder->thisThread(), &recorder->thisThread());
    std::int64_t other = 0;
    std::thread([&] {
        other = gettid();
        mark(recorder->thisThread(), "b");
    }).join();
    ASSERT_TRUE(recorder->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_EQ(trace.of("main thread").size(), 1U);
    EXPECT_EQ(trace.of("thread " + std::to_string(other)).size(), 1U);
}

TEST(Recorder, ALaterNameRenamesTheTrack)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace"});
    ThreadBuffer& buffer = recorder->thisThread();
    ASSERT_TRUE(recorder->flush());
    EXPECT_EQ(&recorder->nameThisThread("main thread", TrackKind::MainThread), &buffer);
    mark(buffer, "a");
    ASSERT_TRUE(recorder->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_EQ(trace.tracks.size(), 1U);
    EXPECT_EQ(trace.of("main thread").size(), 1U);
}

TEST(Recorder, RestartedWorkersStayOnTheirTrack)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace", .maxThreads = 3});
    for (int epoch = 0; epoch < 20; ++epoch)
        for (const char* name : {"loader worker 0", "loader worker 1"})
            std::thread([&] {
                ThreadBuffer& buffer = recorder->nameThisThread(name, TrackKind::LoaderWorker);
                buffer.open(ActivityKind::LoaderWait, buffer.intern("park")); // never closed; must not affect the
                                                                              // nesting of later ranges
            }).join();
    ASSERT_TRUE(recorder->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_EQ(trace.tracks.size(), 2U);
    EXPECT_EQ(trace.of("loader worker 1").size(), 20U);
    EXPECT_EQ(trace.events.back().record.depth, 0);
    EXPECT_EQ(trace.loss.dropped, 0U);
}

TEST(Recorder, BuffersOfEndedThreadsAreReused)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace", .maxThreads = 2});
    for (int i = 0; i < 30; ++i)
        std::thread([&] {
            mark(recorder->nameThisThread("thread number " + std::to_string(i), TrackKind::Thread), "op");
        }).join();
    ASSERT_TRUE(recorder->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_TRUE(trace.problems.empty()) << trace.problems.front();
    EXPECT_EQ(trace.tracks.size(), 30U);
    for (int i = 0; i < 30; ++i) {
        const auto events = trace.of("thread number " + std::to_string(i));
        ASSERT_EQ(events.size(), 1U) << i;
        EXPECT_EQ(events[0].index, 0U) << "indexes of each track start at 0";
    }
}

TEST(Recorder, EventsOfThreadsBeyondTheMaximumAreDroppedAndCounted)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace", .maxThreads = 1});
    mark(recorder->thisThread(), "op");
    std::thread([&] { mark(recorder->thisThread(), "lost"); }).join();
    EXPECT_EQ(recorder->stats().dropped, 1U);
    EXPECT_THAT(recorder->stats().notes, testing::ElementsAre(hasId("ring.threads", {{"threads", 1}})));
    EXPECT_TRUE(recorder->error()) << "everything else is recorded";
    ASSERT_TRUE(recorder->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_TRUE(trace.ended);
    EXPECT_EQ(trace.loss.dropped, 1U);
    EXPECT_EQ(trace.tracks.size(), 2U);
}

TEST(Recorder, BuffersWithoutRingsAreReused)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace", .maxThreads = 1});
    mark(recorder->thisThread(), "op");
    std::set<const ThreadBuffer*> buffers;
    for (int i = 0; i < 20; ++i)
        std::thread([&] {
            ThreadBuffer& buffer = recorder->nameThisThread("thread number " + std::to_string(i), TrackKind::Thread);
            mark(buffer, "lost");
            buffers.insert(&buffer);
        }).join();
    EXPECT_EQ(buffers.size(), 1U) << "each thread reuses the buffer of the previous one";
    EXPECT_EQ(recorder->stats().dropped, 20U);
    ASSERT_TRUE(recorder->finish());
    EXPECT_EQ(parseTrace(folder / "a.sstrace").of("thread " + std::to_string(gettid())).size(), 1U);
}

TEST(Recorder, AFreeRingIsPreferredToABufferOfTheSameNameWithoutARing)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace", .maxThreads = 1});
    std::thread([&] {
        mark(recorder->nameThisThread("first", TrackKind::Thread), "op");
        std::thread([&] { mark(recorder->nameThisThread("worker", TrackKind::Thread), "lost"); }).join();
    }).join();
    std::thread([&] { mark(recorder->nameThisThread("worker", TrackKind::Thread), "kept"); }).join();
    ASSERT_TRUE(recorder->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    ASSERT_EQ(trace.of("worker").size(), 1U);
    EXPECT_EQ(trace.name(trace.of("worker")[0]), "kept");
    EXPECT_EQ(trace.loss.dropped, 1U);
}

TEST(Recorder, OneThreadMayWriteToSeveralRecorders)
{
    const test_support::TemporaryFolder folder;
    auto first = started({.path = folder / "a.sstrace"});
    auto second = started({.path = folder / "b.sstrace"});
    for (int i = 0; i < 3; ++i) {
        mark(first->thisThread(), "a");
        mark(second->thisThread(), "b");
    }
    ASSERT_TRUE(first->finish());
    first.reset();
    // A new recorder may have the address of the destroyed one, but must not use its buffer.
    auto third = started({.path = folder / "c.sstrace"});
    mark(third->thisThread(), "c");
    ASSERT_TRUE(second->finish());
    ASSERT_TRUE(third->finish());
    EXPECT_EQ(parseTrace(folder / "a.sstrace").events.size(), 3U);
    EXPECT_EQ(parseTrace(folder / "b.sstrace").events.size(), 3U);
    EXPECT_EQ(parseTrace(folder / "c.sstrace").events.size(), 1U);
}

TEST(Recorder, AThreadMayOutliveTheRecorder)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace"});
    std::atomic<int> stage{0};
    std::thread thread([&] {
        mark(recorder->thisThread(), "op");
        stage = 1;
        stage.notify_all();
        stage.wait(1);
    });
    stage.wait(0);
    recorder.reset();
    stage = 2;
    stage.notify_all();
    thread.join();
    EXPECT_TRUE(parseTrace(folder / "a.sstrace").ended);
}

TEST(Recorder, BatchesAreOnTheirTracks)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace"});
    const std::uint32_t stream = recorder->streamTrack(DeviceId{1}, StreamId{7});
    EXPECT_EQ(recorder->streamTrack(DeviceId{1}, StreamId{7}), stream);
    EXPECT_NE(recorder->streamTrack(DeviceId{0}, StreamId{7}), stream);
    container::EventRecord pair[2] = {};
    pair[0].type = container::EventType::Device;
    pair[0].name = recorder->intern("kernel");
    pair[1].type = container::EventType::Extra;
    recorder->addBatch(stream, pair);
    recorder->addBatch(stream, {});
    recorder->countLoss(3, 2);
    ASSERT_TRUE(recorder->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_TRUE(trace.problems.empty()) << trace.problems.front();
    ASSERT_EQ(trace.events.size(), 2U);
    EXPECT_EQ(trace.events[0].track, stream);
    EXPECT_EQ(trace.events[0].index, container::kNotFromRing);
    EXPECT_EQ(trace.tracks.at(stream).device, 1U);
    EXPECT_EQ(trace.tracks.at(stream).stream, 7U);
    EXPECT_EQ(trace.strings.at(trace.tracks.at(stream).name), "stream 7");
    EXPECT_EQ(trace.loss.dropped, 3U);
    EXPECT_EQ(trace.loss.unmatched, 2U);
}

TEST(Recorder, ABufferTakesOverTheTrackOfItsThread)
{
    const test_support::TemporaryFolder folder;
    auto recorder = started({.path = folder / "a.sstrace"});
    const std::uint32_t reported = recorder->threadTrack(gettid());
    ASSERT_TRUE(recorder->flush());
    mark(recorder->nameThisThread("main thread", TrackKind::MainThread), "op");
    EXPECT_EQ(recorder->threadTrack(gettid()), reported);
    ASSERT_TRUE(recorder->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_EQ(trace.tracks.size(), 1U);
    EXPECT_EQ(trace.of("main thread").size(), 1U);
}

TEST(Recorder, RejectsInvalidOptions)
{
    const test_support::TemporaryFolder folder;
    EXPECT_FALSE(Recorder::start({.path = folder / "a.sstrace", .maxThreads = 0}));
    EXPECT_FALSE(Recorder::start({.path = folder / "a.sstrace", .drainEvery = 0ns}));
    EXPECT_EQ(folder.files(), 0U);
}

TEST(Recorder, LeavesNoFilesIfItCannotStart)
{
    const test_support::TemporaryFolder folder;
    const auto missing = Recorder::start({.path = folder / "none/a.sstrace"});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Error::Code::NotFound);
    std::filesystem::create_directory(folder / "taken.sstrace");
    EXPECT_FALSE(Recorder::start({.path = folder / "taken.sstrace"}));
    EXPECT_EQ(folder.files(), 1U);
}

} // namespace capture_test
