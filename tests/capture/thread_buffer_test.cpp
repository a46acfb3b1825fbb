#include "profiler/capture/fast_clock.h"
#include "profiler/capture/recorder.h"
#include "profiler/capture/thread_buffer_impl.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/temporary_folder.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <string>
#include <thread>
#include <vector>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using container::EventType;

namespace {

/// The parsed trace file after recording on one thread buffer.
ParsedTrace recorded(const std::function<void(ThreadBuffer&, Recorder&)>& record, std::size_t ringEvents = 4096)
{
    const test_support::TemporaryFolder folder;
    auto recorder = Recorder::start({.path = folder / "a.sstrace", .ringEvents = ringEvents});
    EXPECT_TRUE(recorder) << recorder.error().message();
    record((*recorder)->addBuffer("main", TrackKind::MainThread), **recorder);
    EXPECT_TRUE((*recorder)->finish());
    return parseTrace(folder / "a.sstrace");
}

} // namespace

TEST(ThreadBuffer, OpenIsVisibleAtOnceAndCloseCompletesIt)
{
    const ParsedTrace trace = recorded([](ThreadBuffer& buffer, Recorder&) {
        buffer.open(ActivityKind::Step, buffer.intern("step"), 7);
        buffer.open(ActivityKind::Phase, buffer.intern("forward"), 8);
        buffer.close(4096);
        EXPECT_GT(buffer.close().count(), 0);
    });
    ASSERT_EQ(trace.events.size(), 4U);
    const auto &step = trace.events[0].record, &phase = trace.events[1].record;
    const auto &phaseEnd = trace.events[2].record, &stepEnd = trace.events[3].record;
    EXPECT_EQ(step.type, EventType::Begin);
    EXPECT_EQ(trace.name(trace.events[0]), "step");
    EXPECT_EQ(step.link, 7);
    EXPECT_EQ(step.end, 0);
    EXPECT_EQ(stepEnd.type, EventType::Slice);
    EXPECT_EQ(stepEnd.begin, step.begin);
    EXPECT_EQ(stepEnd.name, step.name);
    EXPECT_EQ(stepEnd.link, 7);
    EXPECT_EQ(stepEnd.depth, 0);
    EXPECT_EQ(phaseEnd.begin, phase.begin);
    EXPECT_EQ(phaseEnd.bytes, 4096U);
    EXPECT_EQ(phaseEnd.depth, 1);
    EXPECT_LE(phaseEnd.end, stepEnd.end);
}

TEST(ThreadBuffer, ACounterThatRanAheadDuringSuspendDoesNotStopTheClock)
{
    const test_support::TemporaryFolder folder;
    auto recorder = Recorder::start({.path = folder / "a.sstrace", .drainEvery = std::chrono::hours(1)});
    ASSERT_TRUE(recorder);
    ThreadBuffer& buffer = (*recorder)->addBuffer("main", TrackKind::MainThread);
    FastClock::reset();
    container::ClockTriple clocks = readClocks();
    clocks.monotonicNs += 3'600'000'000'000;
    container::ClockTriple before = clocks;
    before.tsc -= 100'000'000;
    before.monotonicNs -= 40'000'000;
    FastClock::adjust(before);
    FastClock::adjust(clocks);
    buffer.push(ActivityKind::CpuOp, buffer.intern("across"), 0);
    buffer.push(ActivityKind::CpuOp, buffer.intern("ahead"), 0);
    buffer.pop();
    FastClock::reset();
    buffer.push(ActivityKind::CpuOp, buffer.intern("after"), 0);
    buffer.pop();
    buffer.pop();
    const std::int64_t now = toNs(TraceClock::now());
    ASSERT_TRUE((*recorder)->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    ASSERT_EQ(trace.events.size(), 3U);
    if (trace.events[0].record.begin <= now)
        GTEST_SKIP() << "this processor has no usable time-stamp counter";
    for (std::size_t i : {1U, 2U}) {
        EXPECT_LE(trace.events[i].record.begin, trace.events[i].record.end) << i;
        EXPECT_LE(trace.events[i].record.end, now) << i;
    }
}

TEST(ThreadBuffer, PushAndPopWriteOneRecordWithItsNesting)
{
    const ParsedTrace trace = recorded([](ThreadBuffer& buffer, Recorder&) {
        buffer.push(ActivityKind::CpuOp, buffer.intern("outer"), 11);
        buffer.push(ActivityKind::CpuOp, buffer.intern("inner"), 12, slice_flag::kBackward);
        buffer.pop();
        buffer.complete(ActivityKind::LoaderStage, buffer.intern("read"), traceTime(5), traceTime(9), 3, 100);
        buffer.pop();
    });
    ASSERT_EQ(trace.events.size(), 3U);
    EXPECT_EQ(trace.name(trace.events[0]), "inner");
    EXPECT_EQ(trace.events[0].record.depth, 1);
    EXPECT_EQ(trace.events[0].record.link, 12);
    EXPECT_EQ(trace.events[0].record.flags, slice_flag::kBackward);
    EXPECT_EQ(trace.events[1].record.begin, 5);
    EXPECT_EQ(trace.events[1].record.end, 9);
    EXPECT_EQ(trace.events[1].record.depth, 1);
    EXPECT_EQ(trace.name(trace.events[2]), "outer");
    EXPECT_EQ(trace.events[2].record.depth, 0);
}

TEST(ThreadBuffer, SamplesReferToTheirCounter)
{
    const ParsedTrace trace = recorded([](ThreadBuffer& buffer, Recorder& recorder) {
        const std::uint32_t loss = recorder.addCounter("loss", "nats");
        EXPECT_EQ(recorder.addCounter("loss", "nats"), loss);
        buffer.sample(loss, traceTime(42), 0.25);
    });
    ASSERT_EQ(trace.events.size(), 1U);
    const auto& sample = trace.events[0].record;
    const auto& track = trace.tracks.at(sample.name);
    EXPECT_EQ(sample.type, EventType::Counter);
    EXPECT_EQ(sample.begin, 42);
    EXPECT_EQ(std::bit_cast<double>(sample.link), 0.25);
    EXPECT_EQ(track.kind, static_cast<std::uint32_t>(TrackKind::Counter));
    EXPECT_EQ(trace.strings.at(track.unit), "nats");
}

TEST(ThreadBuffer, EndsWithoutAStartAreCountedAndDoNotAffectOthers)
{
    const ParsedTrace trace = recorded([](ThreadBuffer& buffer, Recorder&) {
        buffer.pop();
        buffer.close();
        buffer.open(ActivityKind::Phase, buffer.intern("forward"));
        buffer.pop(); // a pop must not end the phase
        buffer.push(ActivityKind::CpuOp, buffer.intern("left open"), 0);
        buffer.close(); // a missing pop must not keep it open either
        buffer.open(ActivityKind::Phase, buffer.intern("backward"));
        buffer.close();
    });
    EXPECT_EQ(trace.loss.unmatched, 4U);
    ASSERT_EQ(trace.events.size(), 4U);
    EXPECT_EQ(trace.name(trace.events[1]), "forward");
    EXPECT_EQ(trace.events[1].record.type, EventType::Slice);
    EXPECT_EQ(trace.name(trace.events[3]), "backward");
    EXPECT_EQ(trace.events[3].record.depth, 0);
}

TEST(ThreadBuffer, DropsAndCountsRangesNestedTooDeeply)
{
    const ParsedTrace trace = recorded([](ThreadBuffer& buffer, Recorder&) {
        for (int i = 0; i < 300; ++i)
            buffer.push(ActivityKind::CpuOp, buffer.intern("recursion"), i);
        for (int i = 0; i < 300; ++i)
            buffer.pop();
        buffer.push(ActivityKind::CpuOp, buffer.intern("after"), 0);
        buffer.pop();
    });
    ASSERT_EQ(trace.events.size(), 256U);
    EXPECT_EQ(trace.loss.dropped, 45U);
    EXPECT_EQ(trace.events.front().record.depth, 254);
    EXPECT_EQ(trace.name(trace.events.back()), "after");
    EXPECT_EQ(trace.events.back().record.depth, 0);
}

TEST(ThreadBuffer, InternsByContentAndStoresNoPointer)
{
    const ParsedTrace trace = recorded([](ThreadBuffer& buffer, Recorder& recorder) {
        std::string text = "aten::add";
        const std::uint32_t add = buffer.intern(text);
        text = "aten::mul";
        const std::uint32_t mul = buffer.intern(text);
        EXPECT_NE(add, mul);
        EXPECT_EQ(buffer.intern("aten::add"), add);
        EXPECT_EQ(recorder.intern("aten::mul"), mul);
        EXPECT_EQ(recorder.addBuffer("other", TrackKind::Thread).intern("aten::add"), add);
        EXPECT_EQ(buffer.intern(""), 0U);
    });
    EXPECT_EQ(trace.strings.at(0), "");
}

TEST(ThreadBuffer, NamesBeyondItsCacheSizeKeepTheirIds)
{
    const ParsedTrace trace = recorded([](ThreadBuffer& buffer, Recorder&) {
        std::vector<std::uint32_t> ids;
        for (int i = 0; i < 20'000; ++i)
            ids.push_back(buffer.intern("name " + std::to_string(i)));
        for (int i = 0; i < 20'000; ++i)
            ASSERT_EQ(buffer.intern("name " + std::to_string(i)), ids[static_cast<std::size_t>(i)]);
    });
    EXPECT_EQ(trace.strings.size(), 20'000U + 4); // also "", the track's name, and the two strings of the out-of-memory
                                                  // note
}

TEST(ThreadBuffer, LargeByteCountsSaturate)
{
    const ParsedTrace trace = recorded([](ThreadBuffer& buffer, Recorder&) {
        buffer.complete(ActivityKind::LoaderStage, buffer.intern("read"), traceTime(0), traceTime(1), 0,
                        std::int64_t{1} << 40);
        buffer.complete(ActivityKind::LoaderStage, buffer.intern("read"), traceTime(0), traceTime(1), 0, -1);
    });
    EXPECT_EQ(trace.events.at(0).record.bytes, 0xffffffffU);
    EXPECT_EQ(trace.events.at(1).record.bytes, 0U);
}

// The path that NVTX's handlers take if the call resembles the previous one.
TEST(ThreadBuffer, TheFastPathWritesTheSameAsTheSlowPath)
{
    FastClock::reset();
    bool shortWay = false;
    const ParsedTrace trace = recorded([&](ThreadBuffer& buffer, Recorder&) {
        ThreadBuffer::Impl& fast = buffer.inlined();
        const std::uint32_t name = buffer.intern("forward");
        EXPECT_FALSE(fast.tryPush(timeStampCounter(), ActivityKind::Nvtx, name, 5, 0))
            << "the buffer has no copy of the clock yet";
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        FastClock::adjust(); // the second adjustment; the first one was at the start of the recorder
        // The writer thread may adjust the clock at any time; then the buffer renews its copy.
        const auto soon = [&](const std::function<bool()>& tried) {
            for (int i = 0; i < 1000; ++i)
                if (tried())
                    return true;
                else
                    static_cast<void>(fast.now());
            return false;
        };
        buffer.open(ActivityKind::Step, buffer.intern("step"), 7);
        EXPECT_FALSE(fast.tryPop(timeStampCounter())) << "not started by a push";
        buffer.push(ActivityKind::Nvtx, name, 5, 0, name);
        buffer.pop();
        shortWay = soon([&] { return fast.tryPush(timeStampCounter(), ActivityKind::Nvtx, name, 5, name); });
        if (shortWay) {
            EXPECT_TRUE(soon([&] { return fast.tryPop(timeStampCounter()); }));
        }
        buffer.close();
        EXPECT_FALSE(fast.tryPop(timeStampCounter())) << "nothing is open";
    });
    FastClock::reset();
    if (!shortWay)
        GTEST_SKIP() << "this processor has no invariant time-stamp counter";
    ASSERT_EQ(trace.events.size(), 4U);
    const auto &slow = trace.events[1].record, &fast = trace.events[2].record;
    EXPECT_EQ(slow.type, fast.type);
    EXPECT_EQ(slow.kind, fast.kind);
    EXPECT_EQ(slow.depth, fast.depth);
    EXPECT_EQ(slow.flags, fast.flags);
    EXPECT_EQ(slow.name, fast.name);
    EXPECT_EQ(slow.link, fast.link);
    EXPECT_EQ(slow.bytes, fast.bytes);
    EXPECT_EQ(slow.detail, fast.detail);
    EXPECT_GE(fast.begin, slow.end);
    EXPECT_GE(fast.end, fast.begin);
}

TEST(ThreadBuffer, TheFastPathLeavesFullStacksAndRingsToTheSlowPath)
{
    const ParsedTrace trace = recorded(
        [](ThreadBuffer& buffer, Recorder&) {
            const auto push = [&] {
                if (!buffer.inlined().tryPush(timeStampCounter(), ActivityKind::Nvtx, 0, 0, 0))
                    buffer.push(ActivityKind::Nvtx, 0, 0);
            };
            const auto pop = [&] {
                if (!buffer.inlined().tryPop(timeStampCounter()))
                    buffer.pop();
            };
            for (std::size_t i = 0; i < kMaxNesting + 5; ++i)
                push();
            for (std::size_t i = 0; i < kMaxNesting + 5; ++i)
                pop();
            pop(); // without a push
        },
        128);
    EXPECT_GE(trace.loss.dropped, 5U) << "including events that did not fit into the ring";
    EXPECT_EQ(trace.events.size() + trace.loss.dropped, kMaxNesting + 5);
    EXPECT_EQ(trace.loss.unmatched, 1U);
}

TEST(ThreadBuffer, ATextIsKnownByItsAddressAndContent)
{
    recorded([](ThreadBuffer& buffer, Recorder& recorder) {
        const ThreadBuffer::Impl& fast = buffer.inlined();
        const std::size_t page = 4096;
        std::vector<char> memory(3 * page, 'x');
        const auto known = [&](const char* text) {
            const std::uint32_t id = buffer.internAt(text);
            EXPECT_EQ(recorder.text(id), text);
            const std::uint32_t found = fast.known(text); // 0 if the slow path must look it up
            EXPECT_TRUE(found == 0 || found == id) << text;
            return found != 0;
        };
        char text[64] = "forward";
        const bool quick = known(text);
        for (const char* other : {"forwarD", "forwar", "forward2", "f", "", "fifteen letters", "sixteen letters!",
                                  "sixteen letters! and more", "sixteen letters! and MORE", "forward"}) {
            std::strcpy(text, other);
            EXPECT_EQ(fast.known(text), 0U) << "a different text is here now: " << other;
            EXPECT_EQ(known(text), quick && *other != '\0' && std::strlen(other) < 16) << other;
        }
        // The last bytes of a page; the memory after it may be inaccessible.
        char* const end = memory.data() + 2 * page - reinterpret_cast<std::uintptr_t>(memory.data()) % page;
        std::strcpy(end - 8, "forward");
        EXPECT_FALSE(known(end - 8));
    });
}

} // namespace capture_test
