#include "profiler/capture/cupti/decode.h"
#include "profiler/capture/cupti/names.h"

#include <limits>

namespace profiler::capture {

namespace {

constexpr std::uint8_t kUnknownDepth = 255;

bool isTime(std::uint64_t time)
{
    return time != 0 && time <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

template <class Record>
bool hasTimes(const Record& record)
{
    return isTime(record.start) && isTime(record.end) && record.start <= record.end;
}

template <class Record>
const Record& as(const CUpti_Activity& record)
{
    return reinterpret_cast<const Record&>(record);
}

std::string_view jitName(const CUpti_ActivityJit2& jit)
{
    switch (jit.jitOperationType) {
    case CUPTI_ACTIVITY_JIT_OPERATION_CACHE_LOAD:
        return "JIT: load from the cache";
    case CUPTI_ACTIVITY_JIT_OPERATION_CACHE_STORE:
        return "JIT: store into the cache";
    case CUPTI_ACTIVITY_JIT_OPERATION_COMPILE:
        return jit.jitEntryType == CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN ? "JIT: compile PTX" : "JIT: compile NVVM IR";
    default:
        return "JIT";
    }
}

} // namespace

void CuptiDecoder::addRare(const CUpti_Activity& record, CuptiRecords& to)
{
    switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_MEMORY2:
        return addMemory(as<CUpti_ActivityMemory4>(record), to);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL: {
        const auto& pool = as<CUpti_ActivityMemoryPool3>(record);
        if (!isTime(pool.timestamp)) {
            ++to.damaged;
            return;
        }
        const bool gone = pool.memoryPoolOperationType == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED;
        to.pools.push_back({DeviceId{pool.deviceId}, static_cast<std::int64_t>(pool.timestamp), pool.address,
                            gone ? 0 : pool.size, gone ? 0 : pool.utilizedSize});
        return;
    }
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return addGraph(as<CUpti_ActivityGraphTrace2>(record), to);
    case CUPTI_ACTIVITY_KIND_JIT:
        return addJit(as<CUpti_ActivityJit2>(record), to);
    default:
        ++to.unknown;
    }
}

void CuptiDecoder::addMemory(const CUpti_ActivityMemory4& memory, CuptiRecords& to)
{
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const bool taken = memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    const bool given = memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    if (!isTime(memory.timestamp) || memory.bytes > kMost || (!taken && !given)) {
        ++to.damaged;
        return;
    }
    const MemoryKind kind = memoryKind(memory.memoryKind);
    if (kind != MemoryKind::Device && kind != MemoryKind::Managed)
        return; // pinned host memory is not device memory
    const auto bytes = static_cast<std::int64_t>(memory.bytes);
    to.allocations.push_back({DeviceId{memory.deviceId}, static_cast<std::int64_t>(memory.timestamp),
                              taken ? bytes : -bytes, kind == MemoryKind::Managed});
}

/// The launch of a graph as a whole; this record replaces those of the graph's kernels.
void CuptiDecoder::addGraph(const CUpti_ActivityGraphTrace2& graph, CuptiRecords& to)
{
    if (!hasTimes(graph)) {
        ++to.damaged;
        return;
    }
    CuptiRecords::DeviceWork work{};
    work.device = DeviceId{graph.deviceId};
    work.stream = StreamId{graph.streamId};
    work.event.type = container::EventType::Device;
    work.event.kind = ActivityKind::Kernel;
    work.event.name = m_intern("CUDA graph " + std::to_string(graph.graphId));
    work.event.begin = static_cast<std::int64_t>(graph.start);
    work.event.end = static_cast<std::int64_t>(graph.end);
    work.event.link = graph.correlationId;
    work.extra.type = container::EventType::Extra;
    to.work.push_back(work);
}

void CuptiDecoder::addJit(const CUpti_ActivityJit2& jit, CuptiRecords& to)
{
    if (!hasTimes(jit)) {
        ++to.damaged;
        return;
    }
    container::EventRecord event{};
    event.type = container::EventType::Slice;
    event.kind = ActivityKind::Overhead;
    event.depth = kUnknownDepth;
    event.name = m_intern(jitName(jit));
    event.begin = static_cast<std::int64_t>(jit.start);
    event.end = static_cast<std::int64_t>(jit.end);
    event.link = jit.correlationId;
    to.host.push_back({jit.threadId, event});
}

} // namespace profiler::capture
