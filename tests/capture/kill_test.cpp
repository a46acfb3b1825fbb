#include "profiler/capture/recorder.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/trace_reader.h"
#include "tests/capture/killed_recording.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/message_matchers.h"
#include "tests/support/temporary_folder.h"

#include <csignal>
#include <gmock/gmock.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using namespace std::chrono_literals;
using profiler::test::hasId;
using profiler::test::hasIdAndPart;

// kill_soak_test.cpp runs 200 rounds.
TEST(Kill, AtAnyMomentLosesNoRecordedEvent)
{
    const KillLosses losses = killAtRandomMoments(5, 2024);
    EXPECT_EQ(losses.problem, "");
    EXPECT_EQ(losses.opened, 5);
    EXPECT_GT(losses.hostEvents, 0U);
    EXPECT_EQ(losses.hostLost, 0U);
    EXPECT_GT(losses.fromRing, 0U) << "the rings were never needed, so the test shows nothing";
}

// The product's own reader combines file and ring.
TEST(Kill, TheTraceOpensAndIsMarkedAsCut)
{
    for (int round = 0; round < 4; ++round) {
        const test_support::TemporaryFolder folder;
        const auto path = folder / "a.sstrace";
        Progress* progress = sharedProgress();
        const pid_t child = fork();
        if (child == 0)
            recordUntilKilled(path, *progress);
        while (!progress->ready)
            std::this_thread::sleep_for(1ms);
        // Wait until device work has been written: the writer wakes every 7 ms.
        while (progress->gpuNs - progress->firstGpuNs < 100'000'000)
            std::this_thread::sleep_for(1ms + round * 5ms);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        const auto trace = profiler::container::readTrace(path);
        ASSERT_TRUE(trace) << trace.error().message();
        EXPECT_TRUE((*trace)->captureStats().cut);
        EXPECT_EQ((*trace)->captureStats().dropped, 0U);
        EXPECT_THAT((*trace)->captureStats().notes,
                    testing::IsSupersetOf({hasIdAndPart("trace.last_moments", "all", "no completed event is missing"),
                                           hasId("trace.device_loss")}));
        ASSERT_EQ((*trace)->tracks().size(), std::size_t{kKilledThreads} + 1);
        for (const Track& track : (*trace)->tracks()) {
            if (track.kind == TrackKind::Stream)
                continue;
            const std::vector<Slice> slices = (*trace)->sorted(track.id);
            const int thread = track.name.back() - '0';
            EXPECT_GE(std::ssize(slices), progress->recorded[thread].load());
            for (std::size_t i = 0; i < slices.size(); ++i)
                ASSERT_EQ(slices[i].sequence, static_cast<std::int64_t>(i)) << "lost or twice";
        }
        munmap(progress, sizeof(Progress));
    }
}

TEST(Kill, AHangShowsWhatHadStarted)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    Progress* progress = sharedProgress();
    const pid_t child = fork();
    if (child == 0) {
        auto recorder = Recorder::start({.path = path, .drainEvery = 1h});
        ThreadBuffer& buffer = (*recorder)->nameThisThread("main thread", TrackKind::MainThread);
        buffer.open(ActivityKind::Step, buffer.intern("step"), 12);
        buffer.open(ActivityKind::Phase, buffer.intern("data wait"), 12);
        buffer.sample((*recorder)->addCounter("loss", ""), traceTime(1), 0.5);
        progress->ready = true;
        std::this_thread::sleep_for(1h);
        _exit(0);
    }
    while (!progress->ready)
        std::this_thread::sleep_for(1ms);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ParsedTrace trace = parseTrace(path);
    const auto left = profiler::container::recoverRing(path, trace.runId);
    ASSERT_TRUE(left) << left.error().message();
    trace.add(*left);
    ASSERT_EQ(trace.events.size(), 3U);
    EXPECT_EQ(trace.events[1].record.type, profiler::container::EventType::Begin);
    EXPECT_EQ(trace.name(trace.events[1]), "data wait");
    EXPECT_EQ(trace.strings.at(trace.tracks.at(trace.events[2].record.name).name), "loss");
    munmap(progress, sizeof(Progress));
}

} // namespace capture_test
