#include "profiler/capture/cupti_source.h"

#include "profiler/io/wire/tailing_reader.h"
#include "tests/capture/fake_cupti.h"
#include "tests/capture/parsed_trace.h"
#include "tests/capture/temporary_folder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <thread>
#include <unistd.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using wire::EventType;

namespace {

class CuptiSourceTest : public testing::Test {
protected:
    void SetUp() override
    {
        auto started = Recorder::start({.path = path});
        ASSERT_TRUE(started) << started.error().message();
        recorder = std::move(*started);
    }
    /// Without regular flushes: what is handed over is the test's to say.
    void start(CuptiOptions options = {})
    {
        options.flushEvery = Nanoseconds{0};
        startFlushing(options);
    }
    void startFlushing(const CuptiOptions& options)
    {
        auto started = CuptiSource::start(*recorder, cupti.api, options);
        ASSERT_TRUE(started) << started.error().message();
        source = std::move(*started);
    }
    ParsedTrace finished()
    {
        EXPECT_TRUE(source->stop());
        EXPECT_TRUE(recorder->finish());
        return parseTrace(path);
    }
    [[nodiscard]] std::ptrdiff_t positionOf(const std::string& call) const
    {
        const auto at = std::find(cupti.calls.begin(), cupti.calls.end(), call);
        EXPECT_NE(at, cupti.calls.end()) << call;
        return at - cupti.calls.begin();
    }

    TemporaryFolder folder;
    std::filesystem::path path = folder / "a.sstrace";
    FakeCupti cupti;
    std::unique_ptr<Recorder> recorder;
    std::unique_ptr<CuptiSource> source; // before the recorder and the calls it uses
};

std::string enabling(CUpti_ActivityKind kind)
{
    return "enable " + std::to_string(kind);
}

void addKernel(CuptiBuffer& buffer, std::uint32_t stream, std::uint32_t correlation)
{
    auto& kernel = buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 100, 200, correlation);
    kernel.name = "kernel";
    kernel.streamId = stream;
}

void addCall(CuptiBuffer& buffer, CUpti_CallbackId call, std::uint32_t thread, std::uint32_t correlation)
{
    auto& record = buffer.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, 50, 60, correlation);
    record.cbid = call;
    record.threadId = thread;
}

void addWait(CuptiBuffer& buffer, std::uint32_t correlation)
{
    buffer.timed<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 55, 58, correlation).type =
        CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
}

} // namespace

TEST_F(CuptiSourceTest, SubscribesFirstAndSetsTheClockBeforeAnyKind)
{
    start();
    EXPECT_EQ(cupti.calls.front(), "subscribe");
    const auto firstKind = positionOf(enabling(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (const char* before : {"thread ids", "attribute 5", "clock", "callbacks"})
        EXPECT_LT(positionOf(before), firstKind) << before;
    EXPECT_LT(positionOf("all syncs 0"), positionOf(enabling(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)));
    EXPECT_LT(positionOf(enabling(CUPTI_ACTIVITY_KIND_RUNTIME)), positionOf("filter runtime"))
        << "the kind undoes filters";
    const TraceTime before = TraceClock::now();
    const auto time = static_cast<std::int64_t>(cupti.clock());
    EXPECT_LE(toNs(before), time);
    EXPECT_GE(toNs(TraceClock::now()), time);
    EXPECT_TRUE(source->notes().empty());
}

TEST_F(CuptiSourceTest, NamesTheToolThatHoldsCupti)
{
    cupti.failures["subscribe"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    cupti.otherTool = "Nsight Systems";
    const auto started = CuptiSource::start(*recorder, cupti.api, {});
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().what, HasSubstr("Nsight Systems"));
    EXPECT_THAT(cupti.calls, ElementsAre("subscribe")) << "nothing else is touched";
    cupti.failures.clear();
    start(); // and it can be tried again
}

TEST_F(CuptiSourceTest, TheTraceSaysWhatKeptTheGpuFromBeingRecorded)
{
    cupti.failures["subscribe"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    cupti.otherTool = "Nsight Systems";
    EXPECT_FALSE(CuptiSource::start(*recorder, cupti.api, {}));
    EXPECT_TRUE(recorder->finish());
    const auto trace = wire::readTrace(path);
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_THAT((*trace)->captureStats().notes, ElementsAre(HasSubstr("Nsight Systems")));
    EXPECT_FALSE((*trace)->metadata().at("versions.cupti").empty());
}

TEST_F(CuptiSourceTest, TheTraceSaysWhatElseOfTheGpuItLacks)
{
    cupti.failures[enabling(CUPTI_ACTIVITY_KIND_OVERHEAD)] = CUPTI_ERROR_NOT_SUPPORTED;
    cupti.failures["attribute 5"] = CUPTI_ERROR_INVALID_PARAMETER;
    start();
    for (const char* call : {"disable 10", "unsubscribe"})
        cupti.failures[call] = CUPTI_ERROR_UNKNOWN;
    EXPECT_TRUE(source->stop()) << "the recording can do without";
    EXPECT_TRUE(recorder->finish());
    const auto trace = wire::readTrace(path);
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_THAT((*trace)->captureStats().notes, ElementsAre(HasSubstr("zeroing"), HasSubstr("overheads"),
                                                            HasSubstr("stop recording"), HasSubstr("let go of CUPTI")));
}

// This machine's own CUPTI, with a driver or without: either it starts, or it says why not.
TEST_F(CuptiSourceTest, TheRealLibraryStartsOrSaysWhyNot)
{
    auto started = CuptiSource::start(*recorder, systemCupti(), {});
    if (started) {
        EXPECT_TRUE((*started)->stop());
        return;
    }
    EXPECT_FALSE(started.error().what.empty());
    EXPECT_FALSE(started.error().mend.empty());
    EXPECT_THAT(started.error().where, HasSubstr("CUPTI error"));
}

TEST_F(CuptiSourceTest, WithoutKernelsItDoesNotStartAndCleansUp)
{
    cupti.failures[enabling(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)] = CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED;
    const auto started = CuptiSource::start(*recorder, cupti.api, {});
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().what, HasSubstr("virtual"));
    EXPECT_EQ(cupti.calls.back(), "unsubscribe");
    EXPECT_TRUE(cupti.enabled.empty());
}

TEST_F(CuptiSourceTest, WithoutTheClockOrCallbacksForBuffersItDoesNotStart)
{
    for (const char* call : {"clock", "callbacks"}) {
        cupti.failures = {{call, CUPTI_ERROR_NOT_INITIALIZED}};
        EXPECT_FALSE(CuptiSource::start(*recorder, cupti.api, {})) << call;
        EXPECT_EQ(cupti.calls.back(), "unsubscribe");
        EXPECT_TRUE(cupti.enabled.empty());
    }
}

TEST_F(CuptiSourceTest, OtherKindsThatFailAreNotedAndTheRestIsRecorded)
{
    cupti.failures[enabling(CUPTI_ACTIVITY_KIND_OVERHEAD)] = CUPTI_ERROR_NOT_SUPPORTED;
    cupti.failures["attribute 5"] = CUPTI_ERROR_INVALID_PARAMETER;
    start();
    EXPECT_THAT(source->notes(), ElementsAre(HasSubstr("zeroing"), HasSubstr("overheads")));
    EXPECT_THAT(cupti.enabled, Contains(CUPTI_ACTIVITY_KIND_MEMCPY));
    EXPECT_TRUE(source->stop());
}

TEST_F(CuptiSourceTest, OnlyOneAtATime)
{
    start();
    const auto second = CuptiSource::start(*recorder, cupti.api, {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Error::Code::Unavailable);
    EXPECT_TRUE(source->stop());
    EXPECT_TRUE(source->stop()) << "a second call changes nothing";
    start();
}

TEST_F(CuptiSourceTest, LevelsEnableWhatTheyNeed)
{
    start({.level = CuptiLevel::Always});
    EXPECT_THAT(cupti.enabled, testing::UnorderedElementsAre(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                             CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                                             CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DEVICE));
    EXPECT_THAT(cupti.calls, Not(Contains("filter runtime")));
    cupti.calls.clear();
    ASSERT_TRUE(source->setLevel(CuptiLevel::Standard));
    EXPECT_THAT(cupti.enabled, Contains(CUPTI_ACTIVITY_KIND_RUNTIME));
    EXPECT_THAT(cupti.enabled, Not(Contains(CUPTI_ACTIVITY_KIND_DRIVER)));
    for (const CUpti_CallbackId call :
         {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
          CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,
          CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize})
        EXPECT_THAT(cupti.calls, Contains("driver " + std::to_string(call) + " 1"));
    EXPECT_EQ(cupti.calls.back(), "flush 0") << "the window before is handed over";
    ASSERT_TRUE(source->setLevel(CuptiLevel::Full));
    EXPECT_THAT(cupti.enabled, Contains(CUPTI_ACTIVITY_KIND_DRIVER));
    ASSERT_TRUE(source->setLevel(CuptiLevel::Always));
    EXPECT_EQ(cupti.enabled.size(), 5U);
}

// CUPTI of itself hands over full buffers only, even where it is told a period.
TEST_F(CuptiSourceTest, BuffersThatAreNotFullAreHandedOverRegularly)
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
        EXPECT_TRUE(isThere()) << "while the recording goes on";
    }
    cupti.dropped = 3;
    EXPECT_TRUE(source->stop());
    EXPECT_EQ(cupti.calls.back(), "unsubscribe") << "no flush comes after the end";
    EXPECT_TRUE(source->notes().empty());
    EXPECT_EQ(finished().loss.dropped, 3U);
}

TEST_F(CuptiSourceTest, ARegularFlushThatFailsIsToldAndNotTriedAgain)
{
    cupti.failures["flush 0"] = CUPTI_ERROR_UNKNOWN;
    startFlushing({.flushEvery = std::chrono::milliseconds(1)});
    for (int tries = 0; tries < 20'000 && cupti.flushes == 0; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(source->stop()) << "all comes at the end";
    EXPECT_EQ(std::count(cupti.calls.begin(), cupti.calls.end(), "flush 0"), 1);
    EXPECT_THAT(source->notes(), ElementsAre(HasSubstr("flush GPU records regularly")));
}

TEST_F(CuptiSourceTest, RecordsLandOnTheirTracks)
{
    start();
    recorder->nameThisThread("main thread", TrackKind::MainThread);
    const auto self = static_cast<std::uint32_t>(gettid());
    CuptiBuffer buffer;
    auto& device = buffer.add<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
    device.name = strdup("Some GPU"); // freed by who gets the record
    buffer.timed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD, 1, 9).overheadData = std::malloc(16);
    addCall(buffer, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, self, 1);
    addKernel(buffer, 7, 1);
    addKernel(buffer, 13, 2);
    addKernel(buffer, 7, 3);
    cupti.put(buffer);
    ASSERT_TRUE(source->flush());
    const ParsedTrace trace = finished();
    EXPECT_TRUE(trace.problems.empty()) << trace.problems.front();
    const auto stream = trace.of("stream 7");
    ASSERT_EQ(stream.size(), 4U);
    EXPECT_EQ(stream[0].record.type, EventType::Device);
    EXPECT_EQ(stream[1].record.type, EventType::Extra);
    EXPECT_EQ(stream[2].record.link, 3);
    EXPECT_EQ(trace.of("stream 13").size(), 2U);
    const auto calls = trace.of("main thread");
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(trace.name(calls[0]), "cudaLaunchKernel");
    ASSERT_EQ(trace.devices.size(), 1U);
    EXPECT_EQ(trace.strings.at(trace.devices[0].name), "Some GPU");
    EXPECT_EQ(trace.loss.dropped, 0U);
}

TEST_F(CuptiSourceTest, AWaitIsPutOnTheThreadOfItsCall)
{
    start();
    CuptiBuffer waits, calls;
    addWait(waits, 21);
    addWait(waits, 22);
    addCall(calls, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, 501, 21);
    cupti.put(waits);
    ASSERT_TRUE(source->flush());
    cupti.put(calls);
    const ParsedTrace trace = finished();
    const auto thread = trace.of("thread 501");
    ASSERT_EQ(thread.size(), 2U);
    EXPECT_EQ(thread[1].record.kind, ActivityKind::Sync);
    EXPECT_EQ(trace.loss.unmatched, 0U) << "22 was a query, whose calls are left out";
}

TEST_F(CuptiSourceTest, WhatCuptiDroppedAndWhatCannotBeReadIsCounted)
{
    start();
    cupti.dropped = 40;
    ASSERT_TRUE(source->flush());
    CuptiBuffer damaged;
    addKernel(damaged, 7, 1);
    damaged.add<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
    damaged.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_KERNEL, 0, 0);
    cupti.put(damaged);
    const ParsedTrace trace = finished();
    EXPECT_EQ(trace.loss.dropped, 42U);
    EXPECT_EQ(trace.of("stream 7").size(), 2U);
}

TEST_F(CuptiSourceTest, StoppingForcesOutIncompleteBuffersThenLetsGo)
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

TEST_F(CuptiSourceTest, AFlushThatFailsIsAnErrorNowAndAtTheEnd)
{
    start();
    cupti.failures["flush 0"] = CUPTI_ERROR_UNKNOWN;
    EXPECT_FALSE(source->flush());
    EXPECT_FALSE(source->stop());
}

// Each error at the driver's edge is one clear line in the trace, and all that the host did is there.
TEST_F(CuptiSourceTest, AStopWhoseFlushFailsIsSaidInTheTraceAndTheHostsPartStays)
{
    start();
    HostLane& lane = recorder->nameThisThread("main thread", TrackKind::MainThread);
    std::size_t size = 0;
    EXPECT_NE(cupti.request(&size), nullptr) << "outstanding, and never handed over";
    cupti.failures["flush 1"] = CUPTI_ERROR_UNKNOWN;
    EXPECT_FALSE(source->stop());
    EXPECT_EQ(cupti.calls.back(), "unsubscribe") << "CUPTI is let go of all the same";
    lane.push(ActivityKind::Phase, lane.intern("forward"), 0);
    lane.pop();
    EXPECT_TRUE(recorder->finish());
    const auto trace = wire::readTrace(path);
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_THAT((*trace)->captureStats().notes, ElementsAre(HasSubstr("flush GPU records")));
    EXPECT_EQ((*trace)->sliceCount(), 1U);
}

// No buffer can be had: CUPTI gets none, drops, and says how many.
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

TEST_F(CuptiSourceTest, BuffersAreZeroedAndUsedAgain)
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
    EXPECT_EQ(taken.size(), 3U) << "then CUPTI drops, and counts";
    for (std::uint8_t* buffer : taken)
        cupti.complete(buffer, size, 0);
    const ParsedTrace trace = finished();
    EXPECT_EQ(trace.events.size(), 80U);
}

TEST_F(CuptiSourceTest, BuffersThatComeAfterTheEndAreLeftAlone)
{
    start();
    std::size_t size = 0;
    std::uint8_t* buffer = cupti.request(&size);
    ASSERT_NE(buffer, nullptr);
    EXPECT_TRUE(source->stop());
    source.reset();
    EXPECT_TRUE(recorder->finish());
    recorder.reset();
    cupti.complete(buffer, size, 64); // the buffer still lives, the recorder does not
    EXPECT_EQ(cupti.request(&size), nullptr);
}

TEST_F(CuptiSourceTest, CuptisThreadsAndTheTrainingShareIt)
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
