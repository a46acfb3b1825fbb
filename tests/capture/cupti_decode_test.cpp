#include "profiler/capture/cupti/decode.h"

#include "profiler/capture/cupti/source.h"
#include "profiler/capture/cupti/vocabulary.h"
#include "profiler/model/trace.h"
#include "tests/capture/cupti_buffer.h"

#include <gmock/gmock.h>
#include <string>
#include <vector>

// These buffers are read by the real cuptiActivityGetNextRecord and cuptiGetCallbackName, which need no driver.
namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using container::EventType;

namespace {

class CuptiDecode : public testing::Test {
protected:
    CuptiRecords decode() { return decoder.decode(buffer.data(), buffer.size()); }
    [[nodiscard]] const std::string& name(const container::EventRecord& event) const { return names.at(event.name); }

    std::vector<std::string> names;
    CuptiBuffer buffer;
    CuptiDecoder decoder{systemCupti(), [this](std::string_view text) {
                             names.emplace_back(text);
                             return static_cast<std::uint32_t>(names.size() - 1);
                         }};
};

} // namespace

TEST_F(CuptiDecode, KernelsAreDecoded)
{
    auto& kernel = buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1200, 1400, 5);
    kernel.name = "_Z9my_kernelIfEvPT_";
    kernel.deviceId = 1;
    kernel.streamId = 7;
    kernel.gridX = 8;
    kernel.gridY = 2;
    kernel.gridZ = 1;
    kernel.blockX = 256;
    kernel.blockY = kernel.blockZ = 1;
    kernel.registersPerThread = 40;
    kernel.staticSharedMemory = 1024;
    kernel.dynamicSharedMemory = 16384;
    kernel.localMemoryPerThread = 8;
    const CuptiRecords records = decode();
    EXPECT_EQ(records.damaged, 0U);
    ASSERT_EQ(records.work.size(), 1U);
    const auto& work = records.work[0];
    EXPECT_EQ(name(work.event), "void my_kernel<float>(float*)");
    EXPECT_EQ(work.event.type, EventType::Device);
    EXPECT_EQ(work.event.kind, ActivityKind::Kernel);
    EXPECT_EQ(work.event.begin, 1200);
    EXPECT_EQ(work.event.end, 1400);
    EXPECT_EQ(work.event.link, 5);
    EXPECT_EQ(work.device, DeviceId{1});
    EXPECT_EQ(work.stream, StreamId{7});
    ASSERT_TRUE(work.launch);
    EXPECT_EQ(work.launch->type, EventType::Launch);
    EXPECT_THAT(work.launch->grid, testing::ElementsAre(8, 2, 1));
    EXPECT_THAT(work.launch->block, testing::ElementsAre(256, 1, 1));
    EXPECT_EQ(work.launch->registers, 40);
    EXPECT_EQ(work.launch->staticSharedMemory, 1024U);
    EXPECT_EQ(work.launch->dynamicSharedMemory, 16384U);
    EXPECT_EQ(work.launch->localMemory, 8U);
}

TEST_F(CuptiDecode, KernelsWithoutAUsableNameAreKept)
{
    buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1, 2).name = nullptr;
    buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 2, 3).name = "triton_poi_fused_0";
    buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 3, 4).name = "triton_poi_fused_0";
    const CuptiRecords records = decode();
    ASSERT_EQ(records.work.size(), 3U);
    EXPECT_EQ(name(records.work[0].event), "unnamed kernel");
    EXPECT_EQ(name(records.work[1].event), "triton_poi_fused_0");
    EXPECT_EQ(records.work[2].event.name, records.work[1].event.name);
}

TEST_F(CuptiDecode, CopiesAreDecoded)
{
    auto& up = buffer.timed<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, 10, 20, 6);
    up.bytes = std::uint64_t{6} << 30;
    up.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    up.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    up.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    auto& down = buffer.timed<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, 30, 40, 7);
    down.bytes = 4;
    down.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    down.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC;
    down.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    down.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
    const CuptiRecords records = decode();
    ASSERT_EQ(records.work.size(), 2U);
    EXPECT_EQ(name(records.work[0].event), "Memcpy HtoD (Pageable -> Device)");
    EXPECT_EQ(records.work[0].event.kind, ActivityKind::GpuMemcpy);
    EXPECT_EQ(records.work[0].event.bytes, 0xffffffffU);
    EXPECT_EQ(records.work[0].event.flags, 0);
    EXPECT_EQ(records.work[0].extra.bytes, std::uint64_t{6} << 30);
    EXPECT_EQ(records.work[0].extra.copy, CopyKind::HtoD);
    EXPECT_EQ(records.work[0].extra.src, MemoryKind::Pageable);
    EXPECT_EQ(name(records.work[1].event), "Memcpy DtoH (Device -> Pinned)");
    EXPECT_EQ(records.work[1].event.flags, slice_flag::kAsync);
    EXPECT_EQ(records.work[1].extra.dst, MemoryKind::Pinned);
}

TEST_F(CuptiDecode, CopiesBetweenGpusAreDecoded)
{
    auto& copy = buffer.timed<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 10, 20, 8);
    copy.bytes = 1000;
    copy.deviceId = 2;
    copy.srcKind = copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    const CuptiRecords records = decode();
    ASSERT_EQ(records.work.size(), 1U);
    EXPECT_EQ(records.work[0].extra.copy, CopyKind::PtoP);
    EXPECT_EQ(records.work[0].device, DeviceId{2});
    EXPECT_EQ(records.work[0].event.link, 8);
    EXPECT_EQ(name(records.work[0].event), "Memcpy PtoP (Device -> Device)");
}

TEST_F(CuptiDecode, EveryCopyKindIsMapped)
{
    EXPECT_EQ(copyKind(CUPTI_ACTIVITY_MEMCPY_KIND_HTOA), CopyKind::HtoD);
    EXPECT_EQ(copyKind(CUPTI_ACTIVITY_MEMCPY_KIND_ATOH), CopyKind::DtoH);
    for (const auto kind : {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA,
                            CUPTI_ACTIVITY_MEMCPY_KIND_ATOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA})
        EXPECT_EQ(copyKind(kind), CopyKind::DtoD);
    EXPECT_EQ(copyKind(CUPTI_ACTIVITY_MEMCPY_KIND_HTOH), CopyKind::HtoH);
    EXPECT_EQ(copyKind(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP), CopyKind::PtoP);
    EXPECT_EQ(copyKind(99), CopyKind::Unknown);
    EXPECT_EQ(memoryKind(CUPTI_ACTIVITY_MEMORY_KIND_ARRAY), MemoryKind::Array);
    EXPECT_EQ(memoryKind(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC), MemoryKind::Managed);
    EXPECT_EQ(memoryKind(77), MemoryKind::Unknown);
}

TEST_F(CuptiDecode, MemsetsAreDecoded)
{
    auto& memset = buffer.timed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 10, 11, 9);
    memset.bytes = 512;
    memset.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    memset.flags = CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC;
    const CuptiRecords records = decode();
    ASSERT_EQ(records.work.size(), 1U);
    EXPECT_EQ(records.work[0].event.kind, ActivityKind::GpuMemset);
    EXPECT_EQ(name(records.work[0].event), "Memset (Device)");
    EXPECT_EQ(records.work[0].extra.bytes, 512U);
    EXPECT_EQ(records.work[0].event.flags, slice_flag::kAsync);
}

TEST_F(CuptiDecode, RuntimeAndDriverCallsAreNamed)
{
    for (int i = 0; i < 2; ++i) {
        auto& launch = buffer.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, 1000, 1500, 5);
        launch.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
        launch.threadId = 4711;
    }
    buffer.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER, 1, 2).cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    buffer.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, 1, 2).cbid = 999'999;
    const CuptiRecords records = decode();
    ASSERT_EQ(records.host.size(), 4U);
    EXPECT_EQ(name(records.host[0].event), "cudaLaunchKernel");
    EXPECT_EQ(records.host[0].event.kind, ActivityKind::CudaRuntime);
    EXPECT_EQ(records.host[0].event.depth, 255) << "the nesting is inferred later";
    EXPECT_EQ(records.host[0].event.link, 5);
    EXPECT_EQ(records.host[0].tid, 4711);
    EXPECT_EQ(records.host[1].event.name, records.host[0].event.name) << "the name is looked up once";
    EXPECT_EQ(name(records.host[2].event), "cuLaunchKernel");
    EXPECT_EQ(records.host[2].event.kind, ActivityKind::CudaDriver);
    EXPECT_EQ(name(records.host[3].event), "CUDA call 999999");
}

TEST_F(CuptiDecode, AnOverheadWithoutTimesIsNotALoss)
{
    buffer.timed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD, 0, 0);
    EXPECT_EQ(decode().damaged, 0U);
    buffer.timed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD, 20, 10);
    EXPECT_EQ(decode().damaged, 1U) << "it ends before it starts";
}

TEST_F(CuptiDecode, TheLastRecordOfANewerLibraryMayBeLonger)
{
    auto& call = buffer.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, 1000, 1500, 5);
    call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
    std::vector<std::uint64_t> longer(buffer.size() / 8 + 2); // two additional fields that we do not know
    std::memcpy(longer.data(), buffer.data(), buffer.size());
    const auto decodeAs = [&](std::uint32_t version) {
        CuptiApi api = systemCupti();
        api.getVersion = [version](std::uint32_t* to) {
            *to = version;
            return CUPTI_SUCCESS;
        };
        // The library's own iteration: one record, then the end.
        api.getNextRecord = [](std::uint8_t* begin, size_t, CUpti_Activity** record) {
            if (*record)
                return CUPTI_ERROR_MAX_LIMIT_REACHED;
            *record = reinterpret_cast<CUpti_Activity*>(begin);
            return CUPTI_SUCCESS;
        };
        CuptiDecoder newer(api, [](std::string_view) { return 1U; });
        return newer.decode(reinterpret_cast<std::uint8_t*>(longer.data()), 8 * longer.size());
    };
    const CuptiRecords records = decodeAs(CUPTI_API_VERSION + 100);
    EXPECT_EQ(records.host.size(), 1U);
    EXPECT_EQ(records.damaged, 0U);
    EXPECT_EQ(decodeAs(CUPTI_API_VERSION).damaged, 1U) << "in our own version, these bytes are not a record";
}

TEST(CallWithoutVersion, KeepsWhatBelongsToTheName)
{
    EXPECT_EQ(callWithoutVersion("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
    EXPECT_EQ(callWithoutVersion("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
    EXPECT_EQ(callWithoutVersion("cudaStreamGetCaptureInfo_v2_v11030"), "cudaStreamGetCaptureInfo_v2");
    EXPECT_EQ(callWithoutVersion("cuMemcpyHtoD_v2"), "cuMemcpyHtoD_v2");
    EXPECT_EQ(callWithoutVersion("cuLaunchKernel_ptsz"), "cuLaunchKernel");
    EXPECT_EQ(callWithoutVersion(""), "");
}

TEST_F(CuptiDecode, WaitsOfTheHostAndOfStreamsAreDecoded)
{
    auto& host = buffer.timed<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 3000, 3500, 12);
    host.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    auto& stream = buffer.add<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    stream.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
    stream.streamId = 13;
    stream.cudaEventId = 3;
    stream.cudaEventSyncId = 44;
    auto& event = buffer.add<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
    event.eventId = 3;
    event.streamId = 7;
    event.cudaEventSyncId = 44;
    const CuptiRecords records = decode();
    ASSERT_EQ(records.waits.size(), 1U);
    EXPECT_EQ(name(records.waits[0].event), "Stream Sync");
    EXPECT_EQ(records.waits[0].event.kind, ActivityKind::Sync);
    EXPECT_EQ(records.waits[0].correlation, 12U);
    ASSERT_EQ(records.streamWaits.size(), 1U);
    EXPECT_EQ(records.streamWaits[0].stream, StreamId{13});
    ASSERT_EQ(records.events.size(), 1U);
    EXPECT_EQ(records.events[0].stream, StreamId{7});
    EXPECT_EQ(records.events[0].sync, records.streamWaits[0].sync);
    EXPECT_EQ(records.damaged, 0U);
}

TEST_F(CuptiDecode, OverheadsOfThreadsAndOfTheProcessAreDecoded)
{
    auto& loading = buffer.timed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD, 1, 9);
    loading.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
    loading.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    loading.objectId.pt.threadId = 31;
    buffer.timed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD, 1, 9).objectKind =
        CUPTI_ACTIVITY_OBJECT_PROCESS;
    const CuptiRecords records = decode();
    ASSERT_EQ(records.host.size(), 2U);
    EXPECT_EQ(name(records.host[0].event), "lazy function loading");
    EXPECT_EQ(records.host[0].event.kind, ActivityKind::Overhead);
    EXPECT_EQ(records.host[0].tid, 31);
    EXPECT_EQ(records.host[1].tid, 0) << "belongs to no thread";
}

TEST_F(CuptiDecode, MemoryThatTheClientMustFreeIsListedButNotFreed)
{
    char name[] = "Some GPU", details[] = "of one overhead";
    buffer.timed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD, 1, 9).overheadData = details;
    buffer.timed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD, 1, 9);
    buffer.add<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE).name = name;
    const CuptiRecords records = decode();
    const std::vector<void*> expected = {details, name};
    EXPECT_EQ(records.toFree, expected);
    EXPECT_STREQ(name, "Some GPU");
}

TEST_F(CuptiDecode, InVersion12DeviceNamesAreNotFreed)
{
    CuptiApi twelve = systemCupti();
    twelve.getVersion = [](std::uint32_t* version) {
        *version = 26;
        return CUPTI_SUCCESS;
    };
    char name[] = "Some GPU";
    buffer.add<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE).name = name;
    CuptiDecoder older(twelve, [](std::string_view) { return 0U; });
    EXPECT_TRUE(older.decode(buffer.data(), buffer.size()).toFree.empty());
}

TEST_F(CuptiDecode, DevicesAreDecoded)
{
    auto& device = buffer.add<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
    device.id = 3;
    device.name = "Some GPU";
    for (int i = 0; i < 16; ++i)
        device.uuid.bytes[i] = static_cast<char>(i * 17);
    const CuptiRecords records = decode();
    ASSERT_EQ(records.devices.size(), 1U);
    EXPECT_EQ(records.devices[0].id, DeviceId{3});
    EXPECT_EQ(records.devices[0].name, "Some GPU");
    EXPECT_EQ(records.devices[0].uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

TEST_F(CuptiDecode, UnknownKindsAreCountedAndSkipped)
{
    buffer.add<CUpti_ActivityMarkerData2>(CUPTI_ACTIVITY_KIND_MARKER_DATA);
    buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1, 2);
    buffer.add<CUpti_ActivityName>(CUPTI_ACTIVITY_KIND_NAME);
    const CuptiRecords records = decode();
    EXPECT_EQ(records.unknown, 2U);
    EXPECT_EQ(records.work.size(), 1U);
    EXPECT_EQ(records.damaged, 0U);
}

TEST_F(CuptiDecode, RecordsWithoutTimesCountAsDamaged)
{
    buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0, 0);
    buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 5, 4);
    buffer.timed<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, 1, ~std::uint64_t{0});
    buffer.timed<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 0, 1);
    buffer.timed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 0, 0);
    buffer.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, 0, 0);
    buffer.timed<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0, 0);
    buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 7, 7);
    const CuptiRecords records = decode();
    EXPECT_EQ(records.damaged, 7U);
    EXPECT_EQ(records.work.size(), 1U);
    EXPECT_TRUE(records.host.empty());
}

TEST_F(CuptiDecode, ATruncatedBufferYieldsItsCompleteRecords)
{
    for (int i = 1; i <= 3; ++i)
        buffer.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1, 2).name = "k";
    for (std::size_t cut = 1; cut < sizeof(CUpti_ActivityKernel10); cut += 7) {
        const CuptiRecords records = decoder.decode(buffer.data(), buffer.size() - cut);
        EXPECT_EQ(records.work.size(), 2U) << cut;
        EXPECT_EQ(records.damaged, 1U) << cut;
    }
    EXPECT_EQ(decode().damaged, 0U);
}

TEST_F(CuptiDecode, GarbageAndZerosAreALossButNoCrash)
{
    std::vector<std::uint64_t> garbage(512, 0x5a5a5a5a5a5a5a5a), zeros(512);
    EXPECT_EQ(decoder.decode(reinterpret_cast<std::uint8_t*>(garbage.data()), 4096).damaged, 1U);
    EXPECT_EQ(decoder.decode(reinterpret_cast<std::uint8_t*>(zeros.data()), 4096).damaged, 1U);
    buffer.timed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 1, 2);
    buffer.add<CUpti_ActivityMemset4>(static_cast<CUpti_ActivityKind>(0x5a5a));
    const CuptiRecords records = decode();
    EXPECT_EQ(records.work.size(), 1U);
    EXPECT_EQ(records.damaged, 1U);
}

TEST_F(CuptiDecode, AnEmptyBufferIsNotALoss)
{
    const CuptiRecords records = decode();
    EXPECT_EQ(records.damaged, 0U);
    EXPECT_TRUE(records.work.empty());
}

} // namespace capture_test
