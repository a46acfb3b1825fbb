#include "profiler/capture/cupti/delivery.h"
#include "profiler/capture/cupti/source.h"
#include "profiler/formats/container/trace_reader.h"
#include "tests/capture/cupti_buffer.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;

namespace {

/// Delivers buffers to a recorder and reads back the resulting trace.
class CuptiDeliveryTest : public testing::Test {
protected:
    void SetUp() override
    {
        auto started = Recorder::start({.path = folder / "a.sstrace"});
        ASSERT_TRUE(started) << started.error().message();
        recorder = std::move(*started);
        delivery = std::make_unique<CuptiDelivery>(*recorder);
    }
    void deliver(CuptiBuffer& buffer)
    {
        CuptiDecoder decoder(systemCupti(), [this](std::string_view text) { return recorder->intern(text); });
        delivery->deliver(decoder.decode(buffer.data(), buffer.size()));
    }
    std::shared_ptr<const Trace> trace()
    {
        delivery->end();
        EXPECT_TRUE(recorder->finish());
        auto read = container::readTrace(folder / "a.sstrace");
        EXPECT_TRUE(read) << read.error().message();
        return read ? *read : nullptr;
    }
    static void addCall(CuptiBuffer& buffer, CUpti_CallbackId id, std::uint64_t start, std::uint32_t correlation)
    {
        auto& call = buffer.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, start, start + 5, correlation);
        call.cbid = id;
        call.threadId = 31;
    }

    test_support::TemporaryFolder folder;
    std::unique_ptr<Recorder> recorder;
    std::unique_ptr<CuptiDelivery> delivery;
};

std::vector<Slice> named(const Trace& trace, ActivityKind kind, std::string_view name)
{
    std::vector<Slice> found;
    for (const Slice& slice : trace.ofKind(kind))
        if (trace.name(slice) == name)
            found.push_back(slice);
    return found;
}

std::vector<double> samples(const Trace& trace, std::string_view counter)
{
    std::vector<double> values;
    for (const Track& track : trace.tracks())
        if (track.name == counter)
            for (const CounterSample& sample : trace.counter(track.id))
                values.push_back(sample.value);
    return values;
}

} // namespace

/// A runtime call from 100 to 200 and the driver calls inside it, in the order in which CUPTI writes them.
class NestedCalls : public CuptiDeliveryTest {
protected:
    static void addDriver(CuptiBuffer& buffer, CUpti_CallbackId id, std::uint64_t start, std::uint32_t correlation)
    {
        auto& call = buffer.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER, start, start + 5, correlation);
        call.cbid = id;
        call.threadId = 31;
    }
    static void addLaunch(CuptiBuffer& buffer, std::uint32_t correlation)
    {
        addCall(buffer, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 100, correlation);
        reinterpret_cast<CUpti_ActivityAPI*>(buffer.data() + buffer.size() - sizeof(CUpti_ActivityAPI))->end = 200;
    }
};

TEST_F(NestedCalls, ARuntimeLaunchIsOneCall)
{
    CuptiBuffer buffer;
    addDriver(buffer, CUPTI_DRIVER_TRACE_CBID_cuModuleLoad, 110, 1);
    addDriver(buffer, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 150, 1);
    addLaunch(buffer, 1);
    addDriver(buffer, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 300, 2); // called directly by a library
    deliver(buffer);
    const auto read = trace();
    ASSERT_TRUE(read);
    EXPECT_EQ(named(*read, ActivityKind::CudaRuntime, "cudaLaunchKernel").size(), 1U);
    const auto launches = named(*read, ActivityKind::CudaDriver, "cuLaunchKernel");
    ASSERT_EQ(launches.size(), 1U);
    EXPECT_EQ(launches[0].correlation.value, 2U);
    const auto modules = named(*read, ActivityKind::CudaDriver, "cuModuleLoad");
    ASSERT_EQ(modules.size(), 1U);
    EXPECT_EQ(modules[0].correlation.value, 0U) << "it has launched nothing";
}

TEST_F(NestedCalls, TheRecordsOfALaunchMayBeInDifferentBuffers)
{
    CuptiBuffer first, second, kernels;
    addDriver(first, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 150, 1);
    deliver(first);
    kernels.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 300, 400, 1);
    deliver(kernels);
    addLaunch(second, 1);
    addDriver(second, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 500, 7); // the last record: nothing follows it
    deliver(second);
    const auto read = trace();
    ASSERT_TRUE(read);
    EXPECT_EQ(named(*read, ActivityKind::CudaRuntime, "cudaLaunchKernel").size(), 1U);
    const auto launches = named(*read, ActivityKind::CudaDriver, "cuLaunchKernel");
    ASSERT_EQ(launches.size(), 1U);
    EXPECT_EQ(launches[0].correlation.value, 7U);
}

TEST_F(CuptiDeliveryTest, AStreamWaitHasAnArrowFromTheRecordingOfItsEvent)
{
    CuptiBuffer first, second;
    addCall(first, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, 1000, 1);
    auto& event = first.add<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
    event.correlationId = 1;
    event.eventId = 3;
    event.cudaEventSyncId = 44;
    auto& wait = first.add<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
    wait.correlationId = 2;
    wait.cudaEventSyncId = 44;
    addCall(second, CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020, 2000, 2); // its call arrives in a later buffer
    deliver(first);
    deliver(second);
    const auto read = trace();
    const auto from = named(*read, ActivityKind::CudaRuntime, "cudaEventRecord");
    const auto to = named(*read, ActivityKind::CudaRuntime, "cudaStreamWaitEvent");
    ASSERT_EQ(from.size(), 1U);
    ASSERT_EQ(to.size(), 1U);
    const auto flows = read->flowsOf(from[0].id);
    ASSERT_EQ(flows.size(), 1U);
    EXPECT_EQ(flows[0].kind, FlowKind::Async);
    EXPECT_EQ(flows[0].to, to[0].id);
    EXPECT_EQ(read->captureStats().unmatched, 0U);
}

TEST_F(CuptiDeliveryTest, AGraphLaunchIsLinkedToItsWork)
{
    CuptiBuffer buffer;
    addCall(buffer, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, 10, 5);
    auto& graph = buffer.timed<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 40, 90, 5);
    graph.graphId = 2;
    deliver(buffer);
    const auto read = trace();
    const auto work = named(*read, ActivityKind::Kernel, "CUDA graph 2");
    ASSERT_EQ(work.size(), 1U);
    const auto flows = read->flowsOf(work[0].id);
    ASSERT_EQ(flows.size(), 1U);
    EXPECT_EQ(flows[0].kind, FlowKind::Launch);
}

TEST_F(CuptiDeliveryTest, MemoryIsACounterPerDevice)
{
    CuptiBuffer buffer;
    for (const auto& [bytes, release] : {std::pair(100, false), {50, false}, {100, true}, {900, true}}) {
        auto& memory = buffer.add<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
        memory.memoryOperationType =
            release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
        memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
        memory.bytes = static_cast<std::uint64_t>(bytes);
        memory.timestamp = 10 + buffer.size();
    }
    deliver(buffer);
    EXPECT_THAT(samples(*trace(), "GPU 0 memory taken"), testing::ElementsAre(100, 150, 50, 0));
}

// CUPTI reports each query that found its work done as a wait; the calls are not recorded.
TEST_F(CuptiDeliveryTest, QueriesAreNotALossAndDoNotDisplaceOtherWaits)
{
    CuptiBuffer queries, last;
    for (std::uint32_t i = 0; i < 6000; ++i)
        queries.timed<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 20 + i, 21 + i, 100 + i)
            .type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
    deliver(queries);
    addCall(last, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, 6018, 6099); // the call of the last wait
    deliver(last);
    const auto read = trace();
    EXPECT_EQ(std::ranges::distance(read->ofKind(ActivityKind::Sync)), 1);
    EXPECT_EQ(read->captureStats().unmatched, 0U);
}

TEST_F(CuptiDeliveryTest, DevicePropertiesAreRecorded)
{
    CuptiBuffer buffer;
    auto& device = buffer.add<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
    device.name = "Some GPU";
    device.computeCapabilityMajor = 9;
    device.globalMemorySize = std::uint64_t{80} << 30;
    device.isMigEnabled = 1;
    device.numMultiprocessors = 132;
    device.maxWarpsPerMultiprocessor = 64;
    device.numThreadsPerWarp = 32;
    device.maxBlocksPerMultiprocessor = 32;
    device.maxRegistersPerMultiprocessor = 65536;
    device.maxSharedMemoryPerMultiprocessor = 233472;
    deliver(buffer);
    const auto read = trace();
    ASSERT_EQ(read->devices().size(), 1U);
    EXPECT_EQ(read->devices()[0].computeMajor, 9);
    EXPECT_EQ(read->devices()[0].memoryBytes, std::int64_t{80} << 30);
    EXPECT_EQ(read->devices()[0].multiprocessors, 132);
    EXPECT_EQ(read->devices()[0].limits, (MultiprocessorLimits{2048, 32, 65536, 233472}));
    EXPECT_EQ(read->metadata().at("gpu.0.mig"), "true");
}

TEST_F(CuptiDeliveryTest, KernelsHaveTheirLaunchConfiguration)
{
    CuptiBuffer buffer;
    for (const std::uint16_t registers : {40, 40, 0}) {
        auto& kernel = buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 10, 20, 5);
        kernel.name = "k";
        kernel.gridX = 8;
        kernel.gridY = kernel.gridZ = kernel.blockY = kernel.blockZ = 1;
        kernel.blockX = 256;
        kernel.registersPerThread = registers;
        kernel.staticSharedMemory = 1024;
        kernel.dynamicSharedMemory = 16384;
    }
    deliver(buffer);
    const auto read = trace();
    const auto kernels = named(*read, ActivityKind::Kernel, "k");
    ASSERT_EQ(kernels.size(), 3U);
    EXPECT_EQ(kernels[0].args.launch, kernels[1].args.launch);
    const LaunchConfig launch = read->launch(kernels[0].args.launch);
    EXPECT_THAT(launch.grid, testing::ElementsAre(8, 1, 1));
    EXPECT_THAT(launch.block, testing::ElementsAre(256, 1, 1));
    EXPECT_EQ(launch.registers, 40U);
    EXPECT_EQ(launch.sharedMemory, 17408U);
    EXPECT_EQ(launch.dynamicSharedMemory, 16384U);
    EXPECT_EQ(launch.localMemory, 0U);
    EXPECT_EQ(read->launch(kernels[2].args.launch).registers, std::nullopt) << "no kernel has none";
}

} // namespace capture_test
