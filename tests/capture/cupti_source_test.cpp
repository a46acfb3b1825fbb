#include "profiler/formats/container/trace_reader.h"
#include "tests/capture/cupti_source_fixture.h"
#include "tests/support/message_matchers.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace capture_test {

using container::EventType;
using profiler::test::hasId;
using profiler::test::hasIdAndPart;
using profiler::test::hasPart;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(CuptiSourceTest, SubscribesFirstAndSetsTheClockBeforeAnyKind)
{
    start();
    EXPECT_EQ(cupti.calls.front(), "subscribe");
    const auto firstKind = positionOf(enabling(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (const char* before : {"thread ids", "attribute 5", "clock", "callbacks"})
        EXPECT_LT(positionOf(before), firstKind) << before;
    EXPECT_LT(positionOf("all syncs 0"), positionOf(enabling(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)));
    EXPECT_LT(positionOf(enabling(CUPTI_ACTIVITY_KIND_RUNTIME)), positionOf("filter runtime"))
        << "enabling the kind resets the filters";
    const TraceTime before = TraceClock::now();
    const auto time = static_cast<std::int64_t>(cupti.clock());
    EXPECT_LE(toNs(before), time);
    EXPECT_GE(toNs(TraceClock::now()), time);
    EXPECT_TRUE(source->notes().empty());
}

TEST_F(CuptiSourceTest, NamesTheToolThatUsesCupti)
{
    cupti.failures["subscribe"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    cupti.otherTool = "Nsight Systems";
    const auto started = CuptiSource::start(*recorder, cupti.api, {});
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().what, hasIdAndPart("cupti.other_tool", "tool", "Nsight Systems"));
    EXPECT_THAT(cupti.calls, ElementsAre("subscribe")) << "nothing else is called";
    cupti.failures.clear();
    start(); // it can be started again
}

TEST_F(CuptiSourceTest, TheTraceSaysWhyTheGpuWasNotRecorded)
{
    cupti.failures["subscribe"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    cupti.otherTool = "Nsight Systems";
    EXPECT_FALSE(CuptiSource::start(*recorder, cupti.api, {}));
    EXPECT_TRUE(recorder->finish());
    const auto trace = container::readTrace(path);
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_THAT((*trace)->captureStats().notes,
                ElementsAre(hasIdAndPart("cupti.other_tool", "tool", "Nsight Systems")));
    EXPECT_FALSE((*trace)->metadata().at("versions.cupti").empty());
}

TEST_F(CuptiSourceTest, TheTraceSaysWhichGpuRecordsAreMissing)
{
    cupti.failures[enabling(CUPTI_ACTIVITY_KIND_OVERHEAD)] = CUPTI_ERROR_NOT_SUPPORTED;
    cupti.failures["attribute 5"] = CUPTI_ERROR_INVALID_PARAMETER;
    start();
    for (const char* call : {"disable 10", "unsubscribe"})
        cupti.failures[call] = CUPTI_ERROR_UNKNOWN;
    EXPECT_TRUE(source->stop()) << "the recording works without them";
    EXPECT_TRUE(recorder->finish());
    const auto trace = container::readTrace(path);
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_THAT((*trace)->captureStats().notes,
                ElementsAre(hasPart("doing", "zeroing"), hasPart("doing", "overheads"),
                            hasPart("doing", "stop recording"), hasPart("doing", "unsubscribe from CUPTI")));
}

// Uses this machine's CUPTI, with or without a driver: either it starts, or it says why not.
TEST_F(CuptiSourceTest, TheRealLibraryStartsOrSaysWhyNot)
{
    auto started = CuptiSource::start(*recorder, systemCupti(), {});
    if (started) {
        EXPECT_TRUE((*started)->stop());
        return;
    }
    EXPECT_FALSE(started.error().what.id.empty());
    EXPECT_FALSE(started.error().hint.empty());
    EXPECT_THAT(started.error().where, HasSubstr("CUPTI error"));
}

TEST_F(CuptiSourceTest, WithoutKernelsItDoesNotStartAndCleansUp)
{
    cupti.failures[enabling(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)] = CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED;
    const auto started = CuptiSource::start(*recorder, cupti.api, {});
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().what, hasId("cupti.virtual_gpu"));
    EXPECT_EQ(cupti.calls.back(), "unsubscribe");
    EXPECT_TRUE(cupti.enabled.empty());
}

TEST_F(CuptiSourceTest, WithoutTheClockOrBufferCallbacksItDoesNotStart)
{
    for (const char* call : {"clock", "callbacks"}) {
        cupti.failures = {{call, CUPTI_ERROR_NOT_INITIALIZED}};
        EXPECT_FALSE(CuptiSource::start(*recorder, cupti.api, {})) << call;
        EXPECT_EQ(cupti.calls.back(), "unsubscribe");
        EXPECT_TRUE(cupti.enabled.empty());
    }
}

TEST_F(CuptiSourceTest, OtherKindsThatFailAreNotedAndEverythingElseIsRecorded)
{
    cupti.failures[enabling(CUPTI_ACTIVITY_KIND_OVERHEAD)] = CUPTI_ERROR_NOT_SUPPORTED;
    cupti.failures["attribute 5"] = CUPTI_ERROR_INVALID_PARAMETER;
    start();
    EXPECT_THAT(source->notes(), ElementsAre(hasPart("doing", "zeroing"), hasPart("doing", "overheads")));
    EXPECT_THAT(cupti.enabled, Contains(CUPTI_ACTIVITY_KIND_MEMCPY));
    EXPECT_TRUE(source->stop());
}

TEST_F(CuptiSourceTest, OnlyOneSourceMayExistAtATime)
{
    start();
    const auto second = CuptiSource::start(*recorder, cupti.api, {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Error::Code::Unavailable);
    EXPECT_TRUE(source->stop());
    EXPECT_TRUE(source->stop()) << "a second call has no effect";
    start();
}

TEST_F(CuptiSourceTest, LevelsEnableWhatTheyNeed)
{
    start({.level = CuptiLevel::Always});
    EXPECT_THAT(cupti.enabled,
                testing::UnorderedElementsAre(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                                              CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                              CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DEVICE));
    EXPECT_THAT(cupti.calls, Not(Contains("filter runtime")));
    cupti.calls.clear();
    ASSERT_TRUE(source->setLevel(CuptiLevel::Standard));
    EXPECT_THAT(cupti.enabled, Contains(CUPTI_ACTIVITY_KIND_RUNTIME));
    EXPECT_THAT(cupti.enabled, Not(Contains(CUPTI_ACTIVITY_KIND_DRIVER)));
    EXPECT_THAT(cupti.enabled, Not(Contains(CUPTI_ACTIVITY_KIND_GRAPH_TRACE))) << "each kernel of a graph is recorded";
    for (const CUpti_CallbackId call :
         {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
          CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
          CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds,
          CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize})
        EXPECT_THAT(cupti.calls, Contains("driver " + std::to_string(call) + " 1"));
    EXPECT_EQ(cupti.calls.back(), "flush 0") << "records of the previous window are flushed";
    ASSERT_TRUE(source->setLevel(CuptiLevel::Full));
    EXPECT_THAT(cupti.enabled, Contains(CUPTI_ACTIVITY_KIND_DRIVER));
    ASSERT_TRUE(source->setLevel(CuptiLevel::Always));
    EXPECT_EQ(cupti.enabled.size(), 6U);
}

TEST_F(CuptiSourceTest, ALevelIsChangedByTheSourcesOwnThread)
{
    std::atomic<bool> onThisThread = false;
    const auto self = std::this_thread::get_id();
    cupti.api.enableDriverApi = [&, plain = cupti.api.enableDriverApi](CUpti_CallbackId id, std::uint8_t on) {
        if (std::this_thread::get_id() == self)
            onThisThread = true;
        return plain(id, on);
    };
    startFlushing({.level = CuptiLevel::Always, .flushEvery = std::chrono::hours(1)});
    onThisThread = false; // the calls made during start
    const int before = cupti.flushes;
    ASSERT_TRUE(source->setLevel(CuptiLevel::Standard));
    for (int tries = 0; tries < 2000 && cupti.flushes == before; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_GT(cupti.flushes, before) << "it does not wait for the next regular flush";
    EXPECT_FALSE(onThisThread);
    EXPECT_TRUE(source->stop());
    EXPECT_THAT(cupti.calls, Contains(enabling(CUPTI_ACTIVITY_KIND_RUNTIME)));
}

TEST_F(CuptiSourceTest, AnErrorOfALevelChangeIsReportedAtTheEnd)
{
    cupti.failures[enabling(CUPTI_ACTIVITY_KIND_RUNTIME)] = CUPTI_ERROR_NOT_SUPPORTED;
    startFlushing({.level = CuptiLevel::Always, .flushEvery = std::chrono::hours(1)});
    ASSERT_TRUE(source->setLevel(CuptiLevel::Standard));
    EXPECT_TRUE(source->stop()) << "runtime calls are not required";
    EXPECT_THAT(source->notes(), ElementsAre(hasPart("doing", "record runtime calls")));
}

// libcupti 12 does not know the calls of CUDA 13, and may use their numbers for other calls.
TEST_F(CuptiSourceTest, OnlyCallsThatTheLibraryKnowsByNumberAndNameAreFiltered)
{
    cupti.api.getCallbackName = [plain = cupti.api.getCallbackName](CUpti_CallbackDomain domain, std::uint32_t id,
                                                                    const char** name) {
        if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync)
            return CUPTI_ERROR_INVALID_PARAMETER;
        if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx) {
            *name = "cuSomethingElse";
            return CUPTI_SUCCESS;
        }
        return plain(domain, id, name);
    };
    start({.level = CuptiLevel::Standard});
    EXPECT_THAT(cupti.calls, Contains("driver " + std::to_string(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) + " 1"));
    for (const int id : {CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx})
        EXPECT_THAT(cupti.calls, Not(Contains("driver " + std::to_string(id) + " 1")));
    EXPECT_TRUE(source->notes().empty());
}

TEST_F(CuptiSourceTest, AFatalStateOfCuptiIsTheRecordingsError)
{
    start();
    EXPECT_THAT(cupti.calls, Contains("domain 6 1"));
    cupti.reportState(CUPTI_CBID_STATE_WARNING, CUPTI_ERROR_NOT_SUPPORTED, "some records are missing");
    EXPECT_THAT(source->notes(), ElementsAre(hasId("cupti.state", {{"said", "some records are missing"}})));
    cupti.reportState(CUPTI_CBID_STATE_FATAL_ERROR, CUPTI_ERROR_HARDWARE, nullptr);
    const auto stopped = source->stop();
    ASSERT_FALSE(stopped);
    EXPECT_THAT(stopped.error().where, HasSubstr(std::to_string(CUPTI_ERROR_HARDWARE)));
    EXPECT_TRUE(recorder->finish());
    const auto trace = container::readTrace(path);
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_THAT((*trace)->captureStats().notes,
                ElementsAre(hasPart("doing", "continue recording the GPU"), hasId("cupti.state")));
}

TEST_F(CuptiSourceTest, RecordsAreOnTheirTracks)
{
    start();
    recorder->nameThisThread("main thread", TrackKind::MainThread);
    const auto self = static_cast<std::uint32_t>(gettid());
    CuptiBuffer buffer;
    auto& device = buffer.add<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
    device.name = strdup("Some GPU"); // freed by the receiver of the record
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
    EXPECT_EQ(stream[1].record.type, EventType::Launch);
    EXPECT_EQ(stream[2].record.link, 3);
    EXPECT_EQ(trace.of("stream 13").size(), 2U);
    const auto calls = trace.of("main thread");
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(trace.name(calls[0]), "cudaLaunchKernel");
    ASSERT_EQ(trace.devices.size(), 1U);
    EXPECT_EQ(trace.strings.at(trace.devices[0].name), "Some GPU");
    EXPECT_EQ(trace.loss.dropped, 0U);
}

TEST_F(CuptiSourceTest, AWaitIsOnTheThreadOfItsCall)
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
    EXPECT_EQ(trace.loss.unmatched, 0U) << "call 22 was a query, and queries are not recorded";
}

TEST_F(CuptiSourceTest, DroppedAndUnreadableRecordsAreCounted)
{
    start();
    cupti.dropped = 40;
    ASSERT_TRUE(source->flush());
    CuptiBuffer damaged;
    addKernel(damaged, 7, 1);
    damaged.add<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
    damaged.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0, 0);
    cupti.put(damaged);
    const ParsedTrace trace = finished();
    EXPECT_EQ(trace.loss.dropped, 42U);
    EXPECT_EQ(trace.of("stream 7").size(), 2U);
}

} // namespace capture_test
