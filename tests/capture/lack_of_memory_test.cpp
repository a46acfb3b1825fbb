#include "profiler/capture/recorder.h"
#include "profiler/capture/system_sampler.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/trace_reader.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/failing_memory.h"
#include "tests/support/message_matchers.h"
#include "tests/support/temporary_folder.h"

#include <chrono>
#include <gmock/gmock.h>
#include <thread>

// Running out of memory on a thread of the recording must not end the recorded program.

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using namespace std::chrono_literals;
using profiler::test::hasId;
using test_support::FailingMemory;
using testing::Contains;

namespace {

bool waitForError(const Recorder& recorder)
{
    for (const auto until = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < until;
         std::this_thread::sleep_for(1ms))
        if (!recorder.error())
            return true;
    return false;
}

void record(ThreadBuffer& buffer, int count)
{
    for (int i = 0; i < count; ++i)
        buffer.complete(ActivityKind::CpuOp, 0, traceTime(i), traceTime(i + 1));
}

/// The trace as readers show it, including the contents of the ring file.
std::shared_ptr<const Trace> opened(const std::filesystem::path& path)
{
    const auto trace = container::readTrace(path);
    EXPECT_TRUE(trace) << trace.error().message();
    return trace ? *trace : nullptr;
}

} // namespace

TEST(LackOfMemory, OnTheWriterThreadStopsTheRecordingAndTheTraceSaysSo)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    auto recorder = Recorder::start({.path = path, .drainEvery = 1ms});
    ASSERT_TRUE(recorder);
    ThreadBuffer& buffer = (*recorder)->addBuffer("main thread", TrackKind::MainThread);
    record(buffer, 10);
    ASSERT_TRUE((*recorder)->flush());
    {
        const FailingMemory failing("trace writer");
        record(buffer, 10);
        ASSERT_TRUE(waitForError(**recorder));
        EXPECT_GT(FailingMemory::failures(), 0);
    }
    EXPECT_THAT((*recorder)->error().error().what, hasId("recorder.memory"));
    record(buffer, 10); // the program continues
    (*recorder)->setMetadata("versions.torch", "2.11.0");
    const container::EventRecord work{};
    (*recorder)->addBatch(0, {&work, 1});
    EXPECT_EQ((*recorder)->stats().dropped, 1U) << "device work has no ring that would keep it";
    const auto finished = (*recorder)->finish();
    ASSERT_FALSE(finished);
    EXPECT_THAT(finished.error().what, hasId("recorder.memory"));

    const auto trace = opened(path);
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->sliceCount(), 30U) << "the file has the first ten, the ring file the others";
    EXPECT_THAT(trace->captureStats().notes, Contains(hasId("recorder.memory")));
}

// Whichever allocation fails while the writer empties the rings, no event recorded by a thread is lost, and the trace
// opens.
TEST(LackOfMemory, AtAnyAllocationLeavesATraceThatOpens)
{
    int failures = 0;
    for (int before = 0;; ++before) {
        const test_support::TemporaryFolder folder;
        const auto path = folder / "a.sstrace";
        auto recorder = Recorder::start({.path = path, .drainEvery = 1h});
        ASSERT_TRUE(recorder);
        ThreadBuffer& buffer = (*recorder)->addBuffer("main thread", TrackKind::MainThread);
        buffer.complete(ActivityKind::CpuOp, buffer.intern("aten::mm"), traceTime(0), traceTime(1));
        (*recorder)->setMetadata("versions.torch", "2.11.0");
        container::EventRecord work{};
        work.type = container::EventType::Slice;
        work.kind = ActivityKind::CudaRuntime;
        work.end = 1;
        (*recorder)->addBatch((*recorder)->threadTrack(12), {&work, 1});
        bool hasFailed = false;
        {
            const FailingMemory failing = FailingMemory::once(before);
            hasFailed = !(*recorder)->flush();
        }
        const auto finished = (*recorder)->finish();
        EXPECT_EQ(finished.has_value(), !hasFailed) << "allocation " << before;
        const auto trace = opened(path);
        ASSERT_TRUE(trace) << "allocation " << before;
        EXPECT_EQ(trace->sliceCount(), hasFailed ? 1U : 2U) << "allocation " << before;
        EXPECT_EQ(trace->captureStats().dropped, hasFailed ? 1U : 0U) << "allocation " << before;
        if (!hasFailed)
            break;
        ++failures;
        EXPECT_THAT(finished.error().what, hasId("recorder.memory"));
        EXPECT_THAT(trace->captureStats().notes, Contains(hasId("recorder.memory"))) << "allocation " << before;
    }
    EXPECT_GT(failures, 5);
}

TEST(LackOfMemory, OnTheSamplerThreadStopsTheRecordingNotTheProgram)
{
    const test_support::TemporaryFolder folder;
    const auto path = folder / "a.sstrace";
    auto recorder = Recorder::start({.path = path, .drainEvery = 1ms});
    ASSERT_TRUE(recorder);
    {
        const auto sampler = SystemSampler::start(**recorder, {.every = 1ms});
        const FailingMemory failing("system sampler");
        ASSERT_TRUE(waitForError(**recorder));
    }
    EXPECT_FALSE((*recorder)->finish());
    const auto trace = opened(path);
    ASSERT_TRUE(trace);
    EXPECT_THAT(trace->captureStats().notes, Contains(hasId("recorder.memory")));
}

} // namespace capture_test
