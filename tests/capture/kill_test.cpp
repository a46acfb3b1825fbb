#include "profiler/capture/recorder.h"
#include "profiler/io/wire/ring_file.h"
#include "profiler/io/wire/tailing_reader.h"
#include "tests/capture/parsed_trace.h"
#include "tests/capture/temporary_folder.h"

#include <atomic>
#include <bit>
#include <csignal>
#include <gmock/gmock.h>
#include <new>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using namespace std::chrono_literals;

namespace {

constexpr int kThreads = 2;

/// What the child has surely recorded, in memory that outlives it.
struct Progress {
    std::atomic<std::int64_t> recorded[kThreads];
    std::atomic<bool> ready;
};

Progress* sharedProgress()
{
    void* page = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return new (page) Progress{};
}

void recordForever(Recorder& recorder, int thread, Progress& progress)
{
    HostLane& lane = recorder.nameThisThread("thread " + std::to_string(thread), TrackKind::Thread);
    for (std::int64_t i = 0;; ++i) {
        // New names now and then: a record must never be there without its name.
        lane.push(ActivityKind::CpuOp, lane.intern("op " + std::to_string(i / 100)), i);
        lane.pop();
        progress.recorded[thread].store(i + 1, std::memory_order_release);
        if (i % 64 == 0)
            std::this_thread::sleep_for(200us);
    }
}

[[noreturn]] void beChild(const std::filesystem::path& path, Progress& progress)
{
    auto recorder = Recorder::start({.path = path, .drainEvery = 7ms});
    if (!recorder)
        _exit(1);
    std::thread other([&] { recordForever(**recorder, 1, progress); });
    progress.ready = true;
    recordForever(**recorder, 0, progress);
    _exit(0);
}

void expectNothingLost(const ParsedTrace& trace, const Progress& progress)
{
    for (int thread = 0; thread < kThreads; ++thread) {
        std::int64_t next = 0;
        for (const ParsedTrace::Event& event : trace.of("thread " + std::to_string(thread))) {
            ASSERT_EQ(event.record.link, next) << "lost or twice";
            ASSERT_EQ(trace.name(event), "op " + std::to_string(next / 100));
            ++next;
        }
        EXPECT_GE(next, progress.recorded[thread].load());
    }
}

} // namespace

TEST(Kill, AtAnyMomentLosesNothingThatWasRecorded)
{
    std::mt19937 random(2024);
    std::size_t fromRing = 0, fromFile = 0;
    for (int round = 0; round < 20; ++round) {
        const TemporaryFolder folder;
        const auto path = folder / "a.sstrace";
        Progress* progress = sharedProgress();
        const pid_t child = fork();
        if (child == 0)
            beChild(path, *progress);
        while (!progress->ready)
            std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 90'000));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));

        ParsedTrace trace = parseTrace(path);
        EXPECT_FALSE(trace.ended);
        EXPECT_TRUE(trace.problems.empty()) << trace.problems.front();
        fromFile += trace.events.size();
        const auto left = profiler::wire::recoverRing(path, trace.runId);
        ASSERT_TRUE(left) << left.error().message();
        EXPECT_EQ(left->damaged, 0U);
        ASSERT_EQ(left->dropped, 0U);
        const std::size_t before = trace.events.size();
        trace.add(*left);
        fromRing += trace.events.size() - before;
        expectNothingLost(trace, *progress);
        munmap(progress, sizeof(Progress));
        if (HasFatalFailure())
            return;
    }
    EXPECT_GT(fromFile, 0U);
    EXPECT_GT(fromRing, 0U) << "the rings were never needed: the test shows nothing";
}

// The program's own reader puts file and ring together.
TEST(Kill, TheTraceOpensAndSaysThatItWasCut)
{
    for (int round = 0; round < 4; ++round) {
        const TemporaryFolder folder;
        const auto path = folder / "a.sstrace";
        Progress* progress = sharedProgress();
        const pid_t child = fork();
        if (child == 0)
            beChild(path, *progress);
        while (!progress->ready)
            std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(30ms + round * 5ms);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        const auto trace = profiler::wire::readTrace(path);
        ASSERT_TRUE(trace) << trace.error().message();
        EXPECT_TRUE((*trace)->captureStats().cut);
        EXPECT_EQ((*trace)->captureStats().dropped, 0U);
        ASSERT_EQ((*trace)->tracks().size(), std::size_t{kThreads});
        for (const Track& track : (*trace)->tracks()) {
            const std::vector<Slice> slices = (*trace)->sorted(track.id);
            const int thread = track.name.back() - '0';
            EXPECT_GE(std::ssize(slices), progress->recorded[thread].load());
            for (std::size_t i = 0; i < slices.size(); ++i)
                ASSERT_EQ(slices[i].sequence, static_cast<std::int64_t>(i)) << "lost or twice";
        }
        munmap(progress, sizeof(Progress));
    }
}

TEST(Kill, AHangShowsWhatHadBegun)
{
    const TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    Progress* progress = sharedProgress();
    const pid_t child = fork();
    if (child == 0) {
        auto recorder = Recorder::start({.path = path, .drainEvery = 1h});
        HostLane& lane = (*recorder)->nameThisThread("main thread", TrackKind::MainThread);
        lane.open(ActivityKind::Step, lane.intern("step"), 12);
        lane.open(ActivityKind::Phase, lane.intern("data wait"), 12);
        lane.sample((*recorder)->addCounter("loss", ""), traceTime(1), 0.5);
        progress->ready = true;
        std::this_thread::sleep_for(1h);
        _exit(0);
    }
    while (!progress->ready)
        std::this_thread::sleep_for(1ms);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ParsedTrace trace = parseTrace(path);
    const auto left = profiler::wire::recoverRing(path, trace.runId);
    ASSERT_TRUE(left) << left.error().message();
    trace.add(*left);
    ASSERT_EQ(trace.events.size(), 3U);
    EXPECT_EQ(trace.events[1].record.type, profiler::wire::EventType::Begin);
    EXPECT_EQ(trace.name(trace.events[1]), "data wait");
    EXPECT_EQ(trace.strings.at(trace.tracks.at(trace.events[2].record.name).name), "loss");
    munmap(progress, sizeof(Progress));
}

} // namespace capture_test
