#include "profiler/capture/cupti/decode.h"

#include "profiler/capture/cupti/vocabulary.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

namespace profiler::capture {

namespace {

/// On a host thread, nesting is inferred from the intervals; on a stream, there is none.
constexpr std::uint8_t kUnknownDepth = 255;

std::uint32_t saturated(std::uint64_t bytes)
{
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

/// CUPTI writes 0 if it could not take a time.
bool isTime(std::uint64_t time)
{
    return time != 0 && time <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

/// A record without both times has nothing to show.
template <class Record>
bool hasTimes(const Record& record)
{
    return isTime(record.start) && isTime(record.end) && record.start <= record.end;
}

template <class Record>
container::EventRecord eventOf(const Record& record, container::EventType type, ActivityKind kind, std::uint8_t depth,
                               std::uint32_t name)
{
    container::EventRecord event{};
    event.type = type;
    event.kind = kind;
    event.depth = depth;
    event.name = name;
    event.begin = static_cast<std::int64_t>(record.start);
    event.end = static_cast<std::int64_t>(record.end);
    event.link = record.correlationId;
    return event;
}

/// Device work, without the fields specific to its kind.
template <class Record>
CuptiRecords::DeviceWork workOf(const Record& record, ActivityKind kind, std::uint32_t name)
{
    CuptiRecords::DeviceWork work{};
    work.device = DeviceId{record.deviceId};
    work.stream = StreamId{record.streamId};
    work.event = eventOf(record, container::EventType::Device, kind, 0, name);
    work.extra.type = container::EventType::Extra;
    return work;
}

template <class Copy>
CuptiRecords::DeviceWork copyOf(const Copy& copy, CopyKind kind, std::uint32_t name)
{
    CuptiRecords::DeviceWork work = workOf(copy, ActivityKind::GpuMemcpy, name);
    work.event.flags = copy.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC ? slice_flag::kAsync : 0;
    work.event.bytes = saturated(copy.bytes);
    work.extra.copy = kind;
    work.extra.src = memoryKind(copy.srcKind);
    work.extra.dst = memoryKind(copy.dstKind);
    work.extra.bytes = copy.bytes;
    return work;
}

std::uint32_t positive(std::int32_t value)
{
    return static_cast<std::uint32_t>(std::max(value, 0));
}

container::LaunchRecord launchOf(const CUpti_ActivityKernel10& kernel)
{
    container::LaunchRecord launch{};
    launch.type = container::EventType::Launch;
    launch.registers = kernel.registersPerThread;
    const std::int32_t grid[] = {kernel.gridX, kernel.gridY, kernel.gridZ};
    const std::int32_t block[] = {kernel.blockX, kernel.blockY, kernel.blockZ};
    std::transform(std::begin(grid), std::end(grid), std::begin(launch.grid), positive);
    std::transform(std::begin(block), std::end(block), std::begin(launch.block), positive);
    launch.staticSharedMemory = positive(kernel.staticSharedMemory);
    launch.dynamicSharedMemory = positive(kernel.dynamicSharedMemory);
    launch.localMemory = kernel.localMemoryPerThread;
    return launch;
}

MultiprocessorLimits limitsOf(const CUpti_ActivityDevice5& device)
{
    return {static_cast<int>(device.maxWarpsPerMultiprocessor * device.numThreadsPerWarp),
            static_cast<int>(device.maxBlocksPerMultiprocessor), static_cast<int>(device.maxRegistersPerMultiprocessor),
            static_cast<int>(device.maxSharedMemoryPerMultiprocessor)};
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

struct Layout {
    CUpti_ActivityKind kind;
    std::size_t size;  ///< size in our headers
    std::size_t older; ///< shortest size in version 12 whose fields are a prefix of ours; equal if it never changed
};

constexpr Layout kLayouts[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(CUpti_ActivityKernel10), sizeof(CUpti_ActivityKernel9)},
    {CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(CUpti_ActivityMemcpy6), sizeof(CUpti_ActivityMemcpy5)},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, sizeof(CUpti_ActivityMemcpyPtoP4), sizeof(CUpti_ActivityMemcpyPtoP4)},
    {CUPTI_ACTIVITY_KIND_MEMSET, sizeof(CUpti_ActivityMemset4), sizeof(CUpti_ActivityMemset4)},
    {CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(CUpti_ActivityAPI), sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_DRIVER, sizeof(CUpti_ActivityAPI), sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(CUpti_ActivitySynchronization2),
     sizeof(CUpti_ActivitySynchronization)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, sizeof(CUpti_ActivityOverhead3), sizeof(CUpti_ActivityOverhead2)},
    {CUPTI_ACTIVITY_KIND_DEVICE, sizeof(CUpti_ActivityDevice5), sizeof(CUpti_ActivityDevice5)},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, sizeof(CUpti_ActivityCudaEvent2), sizeof(CUpti_ActivityCudaEvent)},
    {CUPTI_ACTIVITY_KIND_MEMORY2, sizeof(CUpti_ActivityMemory4), sizeof(CUpti_ActivityMemory3)},
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, sizeof(CUpti_ActivityMemoryPool3), sizeof(CUpti_ActivityMemoryPool2)},
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, sizeof(CUpti_ActivityGraphTrace2), sizeof(CUpti_ActivityGraphTrace)},
    {CUPTI_ACTIVITY_KIND_JIT, sizeof(CUpti_ActivityJit2), sizeof(CUpti_ActivityJit2)},
};
static_assert(std::all_of(std::begin(kLayouts), std::end(kLayouts), [](const Layout& layout) {
    return layout.older <= layout.size && layout.size <= kLargestCuptiRecord;
}));

const Layout* layoutOf(CUpti_ActivityKind kind)
{
    const auto* const at = std::find_if(std::begin(kLayouts), std::end(kLayouts),
                                        [&](const Layout& layout) { return layout.kind == kind; });
    return at != std::end(kLayouts) ? at : nullptr;
}

} // namespace

CuptiDecoder::CuptiDecoder(const CuptiApi& api, Intern intern) : m_api(api), m_intern(std::move(intern))
{
    if (m_api.getVersion(&m_version) != CUPTI_SUCCESS)
        m_version = CUPTI_API_VERSION;
    for (const CuptiCall& call : workingDriverCalls())
        m_driverWork.insert(call.id);
}

CuptiRecords CuptiDecoder::decode(std::uint8_t* buffer, std::size_t valid)
{
    CuptiRecords records;
    if (valid == 0)
        return records;
    const auto offsetOf = [&](const CUpti_Activity* record) {
        return static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(record) - buffer);
    };
    CUpti_Activity* record = nullptr;
    const CUpti_Activity* before = nullptr; // its length is known once the next one has been found
    CUptiResult status = CUPTI_SUCCESS;
    while ((status = m_api.getNextRecord(buffer, valid, &record)) == CUPTI_SUCCESS) {
        if (before)
            addRecord(*before, offsetOf(record) - offsetOf(before), records);
        if (offsetOf(record) + sizeof(CUpti_Activity) > valid) {
            ++records.damaged;
            return records;
        }
        before = record;
    }
    // MAX_LIMIT_REACHED marks the end; any other status, or bytes after the end, means that a part is unreadable.
    const bool atEnd = status == CUPTI_ERROR_MAX_LIMIT_REACHED;
    std::size_t end = 0;
    if (before) {
        // In a version that we know, nothing may follow the last record.
        const std::size_t left = valid - offsetOf(before);
        const std::size_t size = cuptiRecordSize(before->kind);
        addRecord(*before, left, records);
        // A newer library writes longer records: the bytes after the fields that we know belong to the last record.
        const bool isLonger = m_version > CUPTI_API_VERSION && atEnd && left - size <= kLargestCuptiRecord;
        end = offsetOf(before) + (size == 0 || left < size || isLonger ? left : size);
    }
    if (!atEnd || end < valid)
        ++records.damaged;
    return records;
}

void CuptiDecoder::addRecord(const CUpti_Activity& record, std::size_t bytes, CuptiRecords& to)
{
    ++to.count;
    if (cuptiRecordSize(record.kind) == 0) {
        ++to.unknown;
        return;
    }
    CuptiRecordSpace space;
    if (const CUpti_Activity* const whole = wholeCuptiRecord(record, bytes, m_version, space)) {
        add(*whole, to);
        if (whole == &record)
            addOwned(record, to);
    } else {
        ++to.damaged;
    }
}

/// Collects memory that the client must free. Applies only to records with all the fields of our headers: older records
/// leave nothing to free, and share the device name.
void CuptiDecoder::addOwned(const CUpti_Activity& record, CuptiRecords& to) const
{
    void* owned = nullptr;
    if (record.kind == CUPTI_ACTIVITY_KIND_OVERHEAD)
        owned = as<CUpti_ActivityOverhead3>(record).overheadData;
    else if (record.kind == CUPTI_ACTIVITY_KIND_DEVICE && m_version >= kCuptiVersion13)
        owned = const_cast<char*>(as<CUpti_ActivityDevice5>(record).name);
    if (owned)
        to.toFree.push_back(owned);
}

void CuptiDecoder::add(const CUpti_Activity& record, CuptiRecords& to)
{
    switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return addKernel(as<CUpti_ActivityKernel10>(record), to);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return addCopy(as<CUpti_ActivityMemcpy6>(record), to);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return addPeerCopy(as<CUpti_ActivityMemcpyPtoP4>(record), to);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return addMemset(as<CUpti_ActivityMemset4>(record), to);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return addCall(as<CUpti_ActivityAPI>(record), to);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return addSync(as<CUpti_ActivitySynchronization2>(record), to);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return addOverhead(as<CUpti_ActivityOverhead3>(record), to);
    case CUPTI_ACTIVITY_KIND_DEVICE: {
        const auto& device = as<CUpti_ActivityDevice5>(record);
        to.devices.push_back({DeviceId{device.id}, device.name ? device.name : "", uuidText(device.uuid),
                              static_cast<int>(device.computeCapabilityMajor),
                              static_cast<int>(device.computeCapabilityMinor),
                              static_cast<std::int64_t>(device.globalMemorySize),
                              static_cast<int>(device.numMultiprocessors), limitsOf(device), device.isMigEnabled != 0});
        return;
    }
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT: {
        const auto& event = as<CUpti_ActivityCudaEvent2>(record);
        to.events.push_back({DeviceId{event.deviceId}, StreamId{event.streamId}, event.correlationId, event.eventId,
                             event.cudaEventSyncId});
        return;
    }
    default:
        addRare(record, to);
    }
}

void CuptiDecoder::addKernel(const CUpti_ActivityKernel10& kernel, CuptiRecords& to)
{
    if (!hasTimes(kernel)) {
        ++to.damaged;
        return;
    }
    CuptiRecords::DeviceWork work = workOf(kernel, ActivityKind::Kernel, kernelName(kernel.name));
    work.launch = launchOf(kernel);
    to.work.push_back(work);
}

void CuptiDecoder::addCopy(const CUpti_ActivityMemcpy6& copy, CuptiRecords& to)
{
    if (!hasTimes(copy)) {
        ++to.damaged;
        return;
    }
    const CopyKind kind = copyKind(copy.copyKind);
    to.work.push_back(copyOf(copy, kind, copyName(kind, memoryKind(copy.srcKind), memoryKind(copy.dstKind))));
}

void CuptiDecoder::addPeerCopy(const CUpti_ActivityMemcpyPtoP4& copy, CuptiRecords& to)
{
    if (!hasTimes(copy)) {
        ++to.damaged;
        return;
    }
    to.work.push_back(
        copyOf(copy, CopyKind::PtoP, copyName(CopyKind::PtoP, memoryKind(copy.srcKind), memoryKind(copy.dstKind))));
}

void CuptiDecoder::addMemset(const CUpti_ActivityMemset4& memset, CuptiRecords& to)
{
    if (!hasTimes(memset)) {
        ++to.damaged;
        return;
    }
    const MemoryKind memory = memoryKind(memset.memoryKind);
    const std::uint32_t name = memsetName(memory);
    CuptiRecords::DeviceWork work = workOf(memset, ActivityKind::GpuMemset, name);
    work.event.flags = memset.flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC ? slice_flag::kAsync : 0;
    work.event.bytes = saturated(memset.bytes);
    work.extra.dst = memory;
    work.extra.bytes = memset.bytes;
    to.work.push_back(work);
}

void CuptiDecoder::addCall(const CUpti_ActivityAPI& call, CuptiRecords& to)
{
    if (!hasTimes(call)) {
        ++to.damaged;
        return;
    }
    const bool runtime = call.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
    if (!runtime && call.cbid == kProbeCall.id) {
        ++to.probes;
        return;
    }
    const auto domain = runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
    const ActivityKind kind = runtime ? ActivityKind::CudaRuntime : ActivityKind::CudaDriver;
    to.host.push_back({call.threadId,
                       eventOf(call, container::EventType::Slice, kind, kUnknownDepth, callName(domain, call.cbid)),
                       !runtime && m_driverWork.contains(call.cbid)});
}

void CuptiDecoder::addSync(const CUpti_ActivitySynchronization2& sync, CuptiRecords& to)
{
    if (sync.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT) {
        to.streamWaits.push_back({StreamId{sync.streamId}, sync.correlationId, sync.cudaEventId, sync.cudaEventSyncId});
        return;
    }
    if (!hasTimes(sync)) {
        ++to.damaged;
        return;
    }
    to.waits.push_back({sync.correlationId, eventOf(sync, container::EventType::Slice, ActivityKind::Sync,
                                                    kUnknownDepth, m_intern(syncName(sync.type)))});
}

void CuptiDecoder::addOverhead(const CUpti_ActivityOverhead3& overhead, CuptiRecords& to)
{
    // CUPTI could not take the times, so no measurement is lost.
    if (overhead.start == 0 && overhead.end == 0)
        return;
    if (!hasTimes(overhead)) {
        ++to.damaged;
        return;
    }
    // Overheads of the process or of a device go to a separate track.
    const bool threads = overhead.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
    to.host.push_back({threads ? overhead.objectId.pt.threadId : 0,
                       eventOf(overhead, container::EventType::Slice, ActivityKind::Overhead, kUnknownDepth,
                               m_intern(overheadName(overhead.overheadKind)))});
}

std::uint32_t CuptiDecoder::kernelName(const char* mangled)
{
    const std::string_view text = mangled ? mangled : "unnamed kernel";
    if (const auto known = m_kernels.find(text); known != m_kernels.end())
        return known->second;
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(
        abi::__cxa_demangle(std::string(text).c_str(), nullptr, nullptr, &status), std::free);
    const std::uint32_t id = m_intern(status == 0 && readable ? std::string_view(readable.get()) : text);
    m_kernels.emplace(text, id);
    return id;
}

std::uint32_t CuptiDecoder::callName(CUpti_CallbackDomain domain, std::uint32_t call)
{
    const auto [at, isNew] = m_calls.try_emplace({domain, call}, 0);
    if (isNew) {
        const char* name = nullptr;
        const bool known = m_api.getCallbackName(domain, call, &name) == CUPTI_SUCCESS && name;
        at->second = m_intern(known ? callWithoutVersion(name) : std::string_view("CUDA call " + std::to_string(call)));
    }
    return at->second;
}

std::uint32_t CuptiDecoder::copyName(CopyKind copy, MemoryKind from, MemoryKind to)
{
    const auto [at, isNew] = m_copies.try_emplace({copy, from, to}, 0);
    if (isNew) {
        std::string name = "Memcpy ";
        name.append(copyKindName(copy)).append(" (").append(memoryWord(from)).append(" -> ").append(memoryWord(to));
        at->second = m_intern(name += ')');
    }
    return at->second;
}

std::uint32_t CuptiDecoder::memsetName(MemoryKind memory)
{
    const auto [at, isNew] = m_memsets.try_emplace(memory, 0);
    if (isNew)
        at->second = m_intern("Memset (" + std::string(memoryWord(memory)) + ")");
    return at->second;
}

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
    to.work.push_back(workOf(graph, ActivityKind::Kernel, m_intern("CUDA graph " + std::to_string(graph.graphId))));
}

void CuptiDecoder::addJit(const CUpti_ActivityJit2& jit, CuptiRecords& to)
{
    if (!hasTimes(jit)) {
        ++to.damaged;
        return;
    }
    to.host.push_back({jit.threadId, eventOf(jit, container::EventType::Slice, ActivityKind::Overhead, kUnknownDepth,
                                             m_intern(jitName(jit)))});
}

std::size_t cuptiRecordSize(CUpti_ActivityKind kind)
{
    const Layout* const layout = layoutOf(kind);
    return layout ? layout->size : 0;
}

const CUpti_Activity* wholeCuptiRecord(const CUpti_Activity& record, std::size_t bytes, std::uint32_t version,
                                       CuptiRecordSpace& space)
{
    const Layout* const layout = layoutOf(record.kind);
    if (!layout)
        return nullptr;
    if (bytes >= layout->size)
        return &record;
    if (version >= kCuptiVersion13 || bytes < layout->older)
        return nullptr;
    space.fill(std::byte{0});
    std::memcpy(space.data(), &record, bytes);
    return reinterpret_cast<const CUpti_Activity*>(space.data());
}

} // namespace profiler::capture
