#include "profiler/capture/cupti/decode.h"
#include "profiler/capture/cupti/source.h"
#include "tests/capture/cupti_buffer.h"

#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <string>
#include <vector>

// Kinds that are rare in training, each valid, truncated and damaged; and records of older CUPTI versions.
namespace capture_test {

using namespace profiler;
using namespace profiler::capture;

namespace {

class CuptiRareKinds : public testing::Test {
protected:
    CuptiRecords decode() { return decoder.decode(buffer.data(), buffer.size()); }
    [[nodiscard]] const std::string& name(std::uint32_t id) const { return names.at(id); }

    std::vector<std::string> names;
    CuptiBuffer buffer;
    CuptiDecoder decoder{systemCupti(), [this](std::string_view text) {
                             names.emplace_back(text);
                             return static_cast<std::uint32_t>(names.size() - 1);
                         }};
};

/// One record of each kind, with everything that its decoding needs.
struct Sample {
    const char* kind;
    std::function<void(CuptiBuffer&)> add;
};

CUpti_ActivityMemory4& addAllocation(CuptiBuffer& buffer, std::uint64_t bytes, bool release = false)
{
    auto& memory = buffer.add<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
    memory.memoryOperationType =
        release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    memory.timestamp = 500;
    memory.bytes = bytes;
    memory.deviceId = 1;
    return memory;
}

const std::vector<Sample>& samples()
{
    static const std::vector<Sample> all = {
        {"kernel",
         [](CuptiBuffer& b) { b.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1, 2); }},
        {"copy", [](CuptiBuffer& b) { b.timed<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, 1, 2); }},
        {"peer copy", [](CuptiBuffer& b) { b.timed<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 1, 2); }},
        {"memset", [](CuptiBuffer& b) { b.timed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 1, 2); }},
        {"call", [](CuptiBuffer& b) { b.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, 1, 2); }},
        {"synchronization",
         [](CuptiBuffer& b) { b.timed<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 1, 2); }},
        {"overhead", [](CuptiBuffer& b) { b.timed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD, 1, 2); }},
        {"CUDA event", [](CuptiBuffer& b) { b.add<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT); }},
        {"memory", [](CuptiBuffer& b) { addAllocation(b, 1 << 20); }},
        {"pool",
         [](CuptiBuffer& b) { b.add<CUpti_ActivityMemoryPool3>(CUPTI_ACTIVITY_KIND_MEMORY_POOL).timestamp = 7; }},
        {"graph", [](CuptiBuffer& b) { b.timed<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 1, 2); }},
        {"device", [](CuptiBuffer& b) { b.add<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE); }},
        {"JIT", [](CuptiBuffer& b) { b.timed<CUpti_ActivityJit2>(CUPTI_ACTIVITY_KIND_JIT, 1, 2); }},
    };
    return all;
}

std::size_t count(const CuptiRecords& records)
{
    return records.work.size() + records.host.size() + records.waits.size() + records.streamWaits.size() +
           records.events.size() + records.devices.size() + records.allocations.size() + records.pools.size();
}

} // namespace

TEST_F(CuptiRareKinds, EveryKindIsDecoded)
{
    for (const Sample& sample : samples()) {
        CuptiBuffer one;
        sample.add(one);
        const CuptiRecords records = decoder.decode(one.data(), one.size());
        EXPECT_EQ(count(records), 1U) << sample.kind;
        EXPECT_EQ(records.damaged + records.unknown, 0U) << sample.kind;
    }
}

TEST_F(CuptiRareKinds, ATruncatedRecordDoesNotAffectTheOneBefore)
{
    for (const Sample& sample : samples()) {
        CuptiBuffer two;
        two.timed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1, 2);
        const std::size_t first = two.size();
        sample.add(two);
        for (std::size_t size = first + 1; size < two.size(); ++size) {
            const CuptiRecords records = decoder.decode(two.data(), size);
            EXPECT_EQ(records.work.size(), 1U) << sample.kind << " cut to " << size - first;
            EXPECT_EQ(count(records), 1U) << sample.kind << " cut to " << size - first;
            EXPECT_EQ(records.damaged, 1U) << sample.kind << " cut to " << size - first;
        }
    }
}

// Zeroed words, as in a page that was never written. (Names are pointers, so any other damage to them would be CUPTI's
// own fault.)
TEST_F(CuptiRareKinds, ZerosAnywhereAreALossButNoCrash)
{
    CuptiBuffer all;
    for (const Sample& sample : samples())
        sample.add(all);
    const std::vector<std::uint8_t> whole(all.data(), all.data() + all.size());
    for (std::size_t at = 0; at < whole.size(); at += 8) {
        std::memcpy(all.data(), whole.data(), whole.size());
        std::memset(all.data() + at, 0, 8);
        const CuptiRecords records = decoder.decode(all.data(), all.size());
        EXPECT_LE(count(records), samples().size());
        EXPECT_TRUE(count(records) + records.damaged + records.unknown > 0) << at;
    }
}

TEST_F(CuptiRareKinds, AllocationsAndFreesAreDecoded)
{
    addAllocation(buffer, 1 << 20);
    addAllocation(buffer, 1 << 20, true);
    addAllocation(buffer, 64).memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    addAllocation(buffer, 64).memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED; // host memory
    addAllocation(buffer, 64).timestamp = 0;
    addAllocation(buffer, ~std::uint64_t{0});
    addAllocation(buffer, 64).memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID;
    const CuptiRecords records = decode();
    ASSERT_EQ(records.allocations.size(), 3U);
    EXPECT_EQ(records.allocations[0].bytes, 1 << 20);
    EXPECT_EQ(records.allocations[0].time, 500);
    EXPECT_EQ(records.allocations[0].device, DeviceId{1});
    EXPECT_EQ(records.allocations[1].bytes, -(1 << 20));
    EXPECT_TRUE(records.allocations[2].managed);
    EXPECT_EQ(records.damaged, 3U);
}

TEST_F(CuptiRareKinds, PoolsAndGraphsAreDecoded)
{
    auto& pool = buffer.add<CUpti_ActivityMemoryPool3>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
    pool.timestamp = 70;
    pool.size = 4096;
    pool.utilizedSize = 1024;
    auto& gone = buffer.add<CUpti_ActivityMemoryPool3>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
    gone.timestamp = 80;
    gone.size = 4096;
    gone.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED;
    auto& graph = buffer.timed<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 100, 900, 33);
    graph.graphId = 5;
    graph.streamId = 13;
    const CuptiRecords records = decode();
    ASSERT_EQ(records.pools.size(), 2U);
    EXPECT_EQ(records.pools[0].bytes, 4096U);
    EXPECT_EQ(records.pools[0].used, 1024U);
    EXPECT_EQ(records.pools[1].bytes, 0U);
    ASSERT_EQ(records.work.size(), 1U);
    EXPECT_EQ(name(records.work[0].event.name), "CUDA graph 5");
    EXPECT_EQ(records.work[0].event.link, 33);
    EXPECT_EQ(records.work[0].stream, StreamId{13});
    EXPECT_FALSE(records.work[0].launch) << "a graph has many";
}

TEST_F(CuptiRareKinds, CompilationsAreDecoded)
{
    auto& jit = buffer.timed<CUpti_ActivityJit2>(CUPTI_ACTIVITY_KIND_JIT, 40, 50);
    jit.jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_COMPILE;
    jit.jitEntryType = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN;
    jit.threadId = 31;
    const CuptiRecords records = decode();
    ASSERT_EQ(records.host.size(), 1U);
    EXPECT_EQ(name(records.host[0].event.name), "JIT: compile PTX");
    EXPECT_EQ(records.host[0].tid, 31);
}

TEST(CuptiLayout, ShorterRecordsOfVersion12AreExtended)
{
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = 5;
    kernel.gridZ = 3;
    const auto& record = reinterpret_cast<const CUpti_Activity&>(kernel);
    CuptiRecordSpace space;
    constexpr std::uint32_t kVersion12 = 26, kVersion13 = 130'001;
    EXPECT_EQ(wholeCuptiRecord(record, sizeof kernel, kVersion12, space), &record) << "there is nothing to do";
    const CUpti_Activity* const whole = wholeCuptiRecord(record, sizeof(CUpti_ActivityKernel9), kVersion12, space);
    ASSERT_NE(whole, nullptr);
    EXPECT_EQ(reinterpret_cast<const CUpti_ActivityKernel10*>(whole)->start, 5U);
    EXPECT_EQ(reinterpret_cast<const CUpti_ActivityKernel10*>(whole)->gridZ, 3);
    EXPECT_EQ(wholeCuptiRecord(record, sizeof(CUpti_ActivityKernel9) - 8, kVersion12, space), nullptr);
    EXPECT_EQ(wholeCuptiRecord(record, sizeof(CUpti_ActivityKernel9), kVersion13, space), nullptr) << "cut";
}

TEST(CuptiLayout, FieldsOfVersion12HaveTheSameOffsetsAsOurs)
{
    EXPECT_EQ(offsetof(CUpti_ActivityKernel9, graphId), offsetof(CUpti_ActivityKernel10, graphId));
    EXPECT_EQ(offsetof(CUpti_ActivityKernel9, name), offsetof(CUpti_ActivityKernel10, name));
    EXPECT_EQ(offsetof(CUpti_ActivityMemcpy5, graphNodeId), offsetof(CUpti_ActivityMemcpy6, graphNodeId));
    EXPECT_EQ(offsetof(CUpti_ActivityMemcpy5, correlationId), offsetof(CUpti_ActivityMemcpy6, correlationId));
    EXPECT_EQ(offsetof(CUpti_ActivityOverhead2, correlationId), offsetof(CUpti_ActivityOverhead3, correlationId));
    EXPECT_EQ(offsetof(CUpti_ActivitySynchronization, cudaEventId),
              offsetof(CUpti_ActivitySynchronization2, cudaEventId));
    EXPECT_EQ(offsetof(CUpti_ActivityCudaEvent, eventId), offsetof(CUpti_ActivityCudaEvent2, eventId));
    EXPECT_EQ(offsetof(CUpti_ActivityGraphTrace, streamId), offsetof(CUpti_ActivityGraphTrace2, streamId));
    EXPECT_EQ(offsetof(CUpti_ActivityMemory3, streamId), offsetof(CUpti_ActivityMemory4, streamId));
    EXPECT_EQ(offsetof(CUpti_ActivityMemoryPool2, utilizedSize), offsetof(CUpti_ActivityMemoryPool3, utilizedSize));
    EXPECT_EQ(offsetof(CUpti_ActivityContext, nullStreamId), offsetof(CUpti_ActivityContext3, nullStreamId));
}

} // namespace capture_test
