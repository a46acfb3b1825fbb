#include "profiler/formats/container/trace_reader.h"
#include "tests/capture/cupti_source_fixture.h"
#include "tests/support/message_matchers.h"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <pthread.h>
#include <system_error>
#include <thread>

// When buffers are returned, and what becomes of them.
namespace capture_test {

using profiler::test::hasId;
using profiler::test::hasPart;
using testing::ElementsAre;

// CUPTI by itself returns only full buffers, even if a flush period is set.
TEST_F(CuptiSourceTest, PartlyFilledBuffersAreFlushedRegularly)
{
    startFlushing({.flushEvery = std::chrono::milliseconds(5)});
    for (std::uint32_t round = 1; round <= 2; ++round) {
        CuptiBuffer buffer;
        addKernel(buffer, round, 1);
        cupti.put(buffer);
        const auto track = "stream " + std::to_string(round);
        const auto isThere = [&] { return !parseTrace(path).of(track).empty(); };
        for (int tries = 0; tries < 2000 && !isThere(); ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_TRUE(isThere()) << "while recording";
    }
    cupti.dropped = 3;
    EXPECT_TRUE(source->stop());
    EXPECT_EQ(cupti.calls.back(), "unsubscribe") << "there is no flush after the end";
    EXPECT_TRUE(source->notes().empty());
    EXPECT_EQ(finished().loss.dropped, 3U);
}

TEST_F(CuptiSourceTest, AFailedRegularFlushIsReportedOnceAndRetried)
{
    cupti.failures["flush 0"] = CUPTI_ERROR_UNKNOWN;
    startFlushing({.flushEvery = std::chrono::milliseconds(1)});
    for (int tries = 0; tries < 20'000 && cupti.flushes < 3; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(source->stop()) << "everything arrives at the end";
    EXPECT_GE(std::count(cupti.calls.begin(), cupti.calls.end(), "flush 0"), 3);
    EXPECT_THAT(source->notes(), ElementsAre(hasPart("doing", "flush GPU records regularly")));
}

TEST_F(CuptiSourceTest, AToolThatTakesOverCuptiIsReported)
{
    startFlushing({.flushEvery = std::chrono::milliseconds(1)});
    const auto waitForFlushes = [&](int more) {
        const int until = cupti.flushes + more;
        for (int tries = 0; tries < 20'000 && cupti.flushes < until; ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    waitForFlushes(8);
    EXPECT_TRUE(source->notes().empty()) << "its own driver calls are recorded";
    cupti.takenOver = true;
    waitForFlushes(8);
    EXPECT_THAT(source->notes(), ElementsAre(hasId("cupti.taken_over")));
    EXPECT_TRUE(source->stop());
    EXPECT_TRUE(recorder->finish());
    const auto trace = container::readTrace(path);
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_THAT((*trace)->captureStats().notes, ElementsAre(hasId("cupti.taken_over")));
    EXPECT_EQ((*trace)->sliceCount(), 0U) << "the source's own calls are not in the trace";
}

TEST_F(CuptiSourceTest, WithoutAnAnsweredProbeNoOtherToolIsReported)
{
    cupti.takenOver = true; // as without a driver: driver calls are never recorded
    startFlushing({.flushEvery = std::chrono::milliseconds(1)});
    for (int tries = 0; tries < 20'000 && cupti.flushes < 10; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(source->stop());
    EXPECT_TRUE(source->notes().empty());
}

// A buffer that is not full is returned only if all of its records are complete.
TEST_F(CuptiSourceTest, BuffersHoldFewRecordsUntilRecordsArriveFast)
{
    startFlushing({.flushEvery = std::chrono::hours(1)});
    const auto fill = [&] {
        std::size_t size = 0, most = 0;
        std::uint8_t* buffer = cupti.request(&size, &most);
        CuptiBuffer records;
        for (std::size_t i = 0; i < std::min<std::size_t>(most, 512); ++i)
            addKernel(records, 7, 1);
        std::memcpy(buffer, records.data(), records.size());
        cupti.complete(buffer, size, records.size());
        return most;
    };
    const std::size_t first = fill();
    EXPECT_GT(first, 0U);
    EXPECT_EQ(fill(), 2 * first) << "it was full within a quarter of the flush period";
}

// Makes thread creation fail: a stack larger than the address space cannot be allocated.
class NoMoreThreads {
public:
    NoMoreThreads()
    {
        pthread_getattr_default_np(&m_before);
        pthread_attr_t endless = m_before;
        pthread_attr_setstacksize(&endless, std::size_t{1} << 47);
        pthread_setattr_default_np(&endless);
    }
    ~NoMoreThreads() { pthread_setattr_default_np(&m_before); }
    NoMoreThreads(const NoMoreThreads&) = delete;
    NoMoreThreads& operator=(const NoMoreThreads&) = delete;

private:
    pthread_attr_t m_before{};
};

TEST_F(CuptiSourceTest, WithoutAFlushThreadTheRecordingContinuesAndSaysSo)
{
    {
        const NoMoreThreads none;
        ASSERT_THROW(std::thread([] {}).join(), std::system_error);
        startFlushing({.flushEvery = std::chrono::milliseconds(1)});
    }
    sigset_t blocked;
    ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &blocked), 0);
    EXPECT_EQ(sigismember(&blocked, SIGTERM), 0) << "the program still receives its signals";
    EXPECT_THAT(source->notes(), ElementsAre(hasId("cupti.no_thread")));
    CuptiBuffer buffer;
    addKernel(buffer, 7, 1);
    cupti.put(buffer);
    EXPECT_TRUE(source->stop());
    EXPECT_TRUE(recorder->finish());
    const auto trace = container::readTrace(path);
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_EQ((*trace)->sliceCount(), 1U) << "everything arrives at the end";
    EXPECT_THAT((*trace)->captureStats().notes, ElementsAre(hasId("cupti.no_thread")));
}

TEST_F(CuptiSourceTest, StoppingFlushesIncompleteBuffersThenUnsubscribes)
{
    start();
    CuptiBuffer buffer;
    addKernel(buffer, 7, 1);
    cupti.put(buffer);
    cupti.calls.clear();
    EXPECT_TRUE(source->stop());
    EXPECT_THAT(cupti.calls, testing::IsSupersetOf({"disable 10", "flush 1", "unsubscribe"}));
    EXPECT_LT(positionOf("disable 10"), positionOf("flush 1"));
    EXPECT_EQ(cupti.calls.back(), "unsubscribe");
    EXPECT_TRUE(recorder->finish());
    EXPECT_EQ(parseTrace(path).events.size(), 2U);
}

TEST_F(CuptiSourceTest, AFailedFlushIsAnErrorNowAndAtTheEnd)
{
    start();
    cupti.failures["flush 0"] = CUPTI_ERROR_UNKNOWN;
    EXPECT_FALSE(source->flush());
    EXPECT_FALSE(source->stop());
}

// Each driver error is one clear line in the trace, and all host events are still there.
TEST_F(CuptiSourceTest, AFailedFinalFlushIsNotedInTheTraceAndHostEventsStay)
{
    start();
    ThreadBuffer& threadBuffer = recorder->nameThisThread("main thread", TrackKind::MainThread);
    std::size_t size = 0;
    EXPECT_NE(cupti.request(&size), nullptr) << "requested but never returned";
    cupti.failures["flush 1"] = CUPTI_ERROR_UNKNOWN;
    EXPECT_FALSE(source->stop());
    EXPECT_EQ(cupti.calls.back(), "unsubscribe") << "CUPTI is unsubscribed anyway";
    threadBuffer.push(ActivityKind::Phase, threadBuffer.intern("forward"), 0);
    threadBuffer.pop();
    EXPECT_TRUE(recorder->finish());
    const auto trace = container::readTrace(path);
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_THAT((*trace)->captureStats().notes, ElementsAre(hasPart("doing", "flush GPU records")));
    EXPECT_EQ((*trace)->sliceCount(), 1U);
}

// If no buffer is available, CUPTI gets none, drops records, and reports their number.
TEST_F(CuptiSourceTest, WithoutBuffersRecordsAreDroppedAndCounted)
{
    start({.buffers = 0, .maxBuffers = 0});
    std::size_t size = 1;
    EXPECT_EQ(cupti.request(&size), nullptr);
    EXPECT_EQ(size, 0U);
    cupti.dropped = 12;
    EXPECT_TRUE(source->flush());
    EXPECT_TRUE(source->stop());
    EXPECT_EQ(finished().loss.dropped, 12U);
}

TEST_F(CuptiSourceTest, BuffersAreZeroedAndReused)
{
    start({.bufferBytes = 8192, .buffers = 2, .maxBuffers = 3});
    for (int round = 0; round < 20; ++round) {
        CuptiBuffer buffer;
        addKernel(buffer, 7, 1);
        cupti.put(buffer);
        cupti.put(buffer);
        cupti.handOver();
    }
    EXPECT_TRUE(cupti.buffersWereZero);
    std::size_t size = 0;
    std::vector<std::uint8_t*> taken;
    while (std::uint8_t* buffer = cupti.request(&size)) {
        EXPECT_EQ(size, 8192U);
        taken.push_back(buffer);
    }
    EXPECT_EQ(taken.size(), 3U) << "beyond that, CUPTI drops records and counts them";
    for (std::uint8_t* buffer : taken)
        cupti.complete(buffer, size, 0);
    const ParsedTrace trace = finished();
    EXPECT_EQ(trace.events.size(), 80U);
}

TEST_F(CuptiSourceTest, BuffersReturnedAfterTheEndAreIgnored)
{
    start();
    std::size_t size = 0;
    std::uint8_t* buffer = cupti.request(&size);
    ASSERT_NE(buffer, nullptr);
    EXPECT_TRUE(source->stop());
    source.reset();
    EXPECT_TRUE(recorder->finish());
    recorder.reset();
    cupti.complete(buffer, size, 64); // the buffer still exists, the recorder does not
    EXPECT_EQ(cupti.request(&size), nullptr);
}

TEST_F(CuptiSourceTest, CuptiThreadsAndTheTrainingMayUseItConcurrently)
{
    start({.bufferBytes = 4096, .buffers = 1, .maxBuffers = 16});
    constexpr int kThreads = 3, kBuffers = 200;
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < kBuffers; ++i) {
                CuptiBuffer records;
                addKernel(records, t, 1);
                std::size_t size = 0;
                std::uint8_t* buffer = nullptr;
                while (!(buffer = cupti.request(&size)))
                    std::this_thread::yield();
                std::memcpy(buffer, records.data(), records.size());
                cupti.complete(buffer, size, records.size());
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    const ParsedTrace trace = finished();
    EXPECT_EQ(trace.events.size(), 2U * kThreads * kBuffers);
    EXPECT_EQ(trace.loss.dropped, 0U);
}

} // namespace capture_test
