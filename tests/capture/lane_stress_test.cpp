#include "profiler/capture/recorder.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <string>
#include <thread>
#include <vector>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using namespace std::chrono_literals;

// Whatever the timing of the threads, every record is in the file, in order and complete, or counted as dropped.
TEST(LaneStress, ProducersAndTheWriterShareRings)
{
    constexpr int kThreads = 3;
    constexpr std::int64_t kRecords = 60'000;
    const test_support::TemporaryFolder folder;
    auto started = Recorder::start({.path = folder / "a.sstrace", .ringEvents = 512, .drainEvery = 1ms});
    ASSERT_TRUE(started);
    Recorder& recorder = **started;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&recorder, t] {
            ThreadBuffer& buffer = recorder.nameThisThread("producer " + std::to_string(t), TrackKind::Thread);
            for (std::int64_t i = 0; i < kRecords; ++i) {
                buffer.complete(ActivityKind::CpuOp, buffer.intern("op " + std::to_string(i % 97)), traceTime(i),
                                traceTime(-i), i);
                if (i % 5000 == 0)
                    std::this_thread::sleep_for(1ms); // lets the writer run, so that rings wrap around
            }
        });
    std::thread device([&recorder] {
        for (int i = 0; i < 200; ++i) {
            container::EventRecord record{};
            record.name = recorder.intern("kernel " + std::to_string(i));
            recorder.addBatch(recorder.streamTrack(DeviceId{0}, StreamId{static_cast<std::uint32_t>(i % 5)}),
                              {&record, 1});
        }
    });
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(recorder.flush());
        static_cast<void>(recorder.stats());
    }
    for (std::thread& thread : threads)
        thread.join();
    device.join();
    ASSERT_TRUE(recorder.finish());

    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_TRUE(trace.problems.empty()) << trace.problems.front();
    std::vector<std::int64_t> last(kThreads, -1);
    std::uint64_t host = 0, batches = 0;
    for (const ParsedTrace::Event& event : trace.events) {
        if (event.index == container::kNotFromRing) {
            ++batches;
            continue;
        }
        ++host;
        const std::string& track = trace.strings.at(trace.tracks.at(event.track).name);
        std::int64_t& previous = last.at(static_cast<std::size_t>(track.back() - '0'));
        ASSERT_GT(event.record.link, previous);
        previous = event.record.link;
        ASSERT_EQ(event.record.begin, event.record.link);
        ASSERT_EQ(event.record.end, -event.record.link);
        ASSERT_EQ(trace.name(event), "op " + std::to_string(event.record.link % 97));
    }
    EXPECT_EQ(batches, 200U);
    EXPECT_EQ(host + trace.loss.dropped, static_cast<std::uint64_t>(kThreads * kRecords));
    EXPECT_GT(host, 512U * kThreads);
}

// Threads start and end while the writer drains; no record may be on another thread's track.
TEST(LaneStress, BuffersAreReusedWhileTheWriterDrains)
{
    const test_support::TemporaryFolder folder;
    auto started =
        Recorder::start({.path = folder / "a.sstrace", .ringEvents = 256, .maxThreads = 4, .drainEvery = 1ms});
    ASSERT_TRUE(started);
    Recorder& recorder = **started;
    const auto spawn = [&recorder](int family) {
        for (int i = 0; i < 60; ++i)
            std::thread([&, i] {
                const std::string name = std::to_string(family) + "/" + std::to_string(i % 7);
                ThreadBuffer& buffer = recorder.nameThisThread(name, TrackKind::Thread);
                for (int k = 0; k < 10; ++k)
                    buffer.complete(ActivityKind::CpuOp, buffer.intern(name), traceTime(k), traceTime(k));
            }).join();
    };
    std::thread one(spawn, 1), two(spawn, 2);
    one.join();
    two.join();
    ASSERT_TRUE(recorder.finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    for (const ParsedTrace::Event& event : trace.events)
        ASSERT_EQ(trace.name(event), trace.strings.at(trace.tracks.at(event.track).name));
    EXPECT_EQ(trace.events.size() + trace.loss.dropped, 1200U);
    EXPECT_EQ(trace.loss.dropped, 0U);
}

} // namespace capture_test
