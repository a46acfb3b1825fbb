#include "profiler/capture/cupti/delivery.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

namespace profiler::capture {

namespace {

constexpr std::size_t kRememberedCalls = 1 << 15;
constexpr std::size_t kInHand = 1 << 12;

/// Drops the oldest entries if too many are waiting.
template <class Waiting>
void bound(std::vector<Waiting>& waiting)
{
    if (waiting.size() > kInHand)
        waiting.erase(waiting.begin(), waiting.end() - kInHand);
}

} // namespace

void CuptiDelivery::deliver(const CuptiRecords& records)
{
    deliverDevices(records);
    deliverWork(records);
    deliverHost(withoutRepeats(records.host), records);
    deliverEdges(records);
    deliverMemory(records);
    bound(m_waits);
    bound(m_streamWaits);
    // Only kinds that were enabled arrive, so a record of an unknown kind is a lost record.
    if (records.damaged + records.unknown > 0)
        m_recorder.countLoss(records.damaged + records.unknown, 0);
}

void CuptiDelivery::deliverDevices(const CuptiRecords& records)
{
    for (const CuptiRecords::Device& device : records.devices)
        if (m_devices.try_emplace(device.id, device.uuid).second) {
            m_recorder.addDevice(
                device.id, device.name, device.uuid,
                {device.computeMajor, device.computeMinor, device.memoryBytes, device.multiprocessors, device.limits});
            if (device.mig)
                m_recorder.setMetadata("gpu." + std::to_string(device.id.value) + ".mig", "true");
        }
}

void CuptiDelivery::deliverWork(const CuptiRecords& records)
{
    std::map<std::pair<DeviceId, StreamId>, std::vector<container::EventRecord>> streams;
    std::pair<DeviceId, StreamId> last;
    std::vector<container::EventRecord>* batch = nullptr; // usually the stream is the same as for the previous work
    for (const CuptiRecords::DeviceWork& work : records.work) {
        const std::pair stream(work.device, work.stream);
        if (!batch || stream != last) {
            batch = &streams[stream];
            last = stream;
        }
        batch->push_back(work.event);
        batch->push_back(work.launch ? std::bit_cast<container::EventRecord>(*work.launch)
                                     : std::bit_cast<container::EventRecord>(work.extra));
    }
    for (const auto& [stream, work] : streams)
        m_recorder.addBatch(m_recorder.streamTrack(stream.first, stream.second), work);
}

std::uint32_t CuptiDelivery::trackOf(std::int64_t tid)
{
    return tid != 0 ? m_recorder.threadTrack(tid) : m_recorder.namedTrack("CUDA overheads", TrackKind::Thread);
}

/// A runtime call launches, copies and waits through a driver call inside it, and both have the kernel's correlation
/// id. Two slices would be counted as two calls. Therefore, a driver call that does the same work is dropped, and any
/// other inner call loses its correlation id. Records of one thread arrive in the order in which the calls return, so
/// the runtime call comes later; if it is in the next buffer, the driver call is held back until then.
std::vector<CuptiRecords::HostSlice> CuptiDelivery::withoutRepeats(const std::vector<CuptiRecords::HostSlice>& host)
{
    std::vector<CuptiRecords::HostSlice> calls = std::exchange(m_lastCalls, {});
    calls.insert(calls.end(), host.begin(), host.end());
    std::unordered_map<std::int64_t, const CuptiRecords::HostSlice*> runtime; // by correlation id
    std::unordered_map<std::int64_t, const CuptiRecords::HostSlice*> last;    // by thread
    for (const CuptiRecords::HostSlice& call : calls) {
        if (call.event.kind == ActivityKind::CudaRuntime)
            runtime[call.event.link] = &call;
        if (call.event.kind != ActivityKind::Overhead)
            last[call.tid] = &call;
    }
    std::vector<CuptiRecords::HostSlice> kept;
    for (CuptiRecords::HostSlice& call : calls) {
        if (call.event.kind == ActivityKind::CudaDriver) {
            const auto around = runtime.find(call.event.link);
            if (around != runtime.end() && around->second->tid == call.tid &&
                around->second->event.begin <= call.event.begin && call.event.end <= around->second->event.end) {
                if (call.isDriverWork)
                    continue;
                call.event.link = 0;
            } else if (last[call.tid] == &call) {
                m_lastCalls.push_back(call);
                continue;
            }
        }
        kept.push_back(call);
    }
    return kept;
}

void CuptiDelivery::deliverHost(const std::vector<CuptiRecords::HostSlice>& calls, const CuptiRecords& records)
{
    remember(calls);
    Threads threads;
    for (const CuptiRecords::HostSlice& slice : calls)
        threads[slice.tid].push_back(slice.event);
    deliverWaits(records, threads);
    for (const auto& [tid, batch] : threads)
        m_recorder.addBatch(trackOf(tid), batch);
}

void CuptiDelivery::deliverWaits(const CuptiRecords& records, Threads& threads)
{
    m_waits.insert(m_waits.end(), records.waits.begin(), records.waits.end());
    std::erase_if(m_waits, [&](const CuptiRecords::HostWait& wait) {
        const Call* const call = callOf(wait.correlation);
        if (call)
            threads[call->tid].push_back(wait.event);
        return call != nullptr;
    });
}

/// A stream that waits for an event waits for all work launched before the event was recorded: draw an arrow from the
/// call that recorded the event to the call that made the stream wait.
void CuptiDelivery::deliverEdges(const CuptiRecords& records)
{
    for (const CuptiRecords::CudaEvent& event : records.events)
        m_recorded[event.sync != 0 ? event.sync : event.event] = event.correlation;
    while (m_recorded.size() > kRememberedCalls)
        m_recorded.erase(m_recorded.begin()); // ids increase, so this is the oldest
    m_streamWaits.insert(m_streamWaits.end(), records.streamWaits.begin(), records.streamWaits.end());
    std::erase_if(m_streamWaits, [&](const CuptiRecords::StreamWait& wait) {
        const auto recorded = m_recorded.find(wait.sync != 0 ? wait.sync : wait.event);
        const Call* const from = recorded != m_recorded.end() ? callOf(recorded->second) : nullptr;
        const Call* const to = callOf(wait.correlation);
        if (!from || !to)
            return false;
        container::EventRecord flow{};
        flow.type = container::EventType::Flow;
        flow.name = to->track;
        flow.begin = from->begin;
        flow.end = to->begin;
        m_recorder.addBatch(from->track, {&flow, 1});
        return true;
    });
}

void CuptiDelivery::sample(std::string_view counter, std::int64_t time, double value)
{
    const std::uint32_t track = m_recorder.addCounter(counter, "bytes");
    container::EventRecord event{};
    event.type = container::EventType::Counter;
    event.name = track;
    event.begin = time;
    event.link = std::bit_cast<std::int64_t>(value);
    m_recorder.addBatch(track, {&event, 1});
}

void CuptiDelivery::deliverMemory(const CuptiRecords& records)
{
    for (const CuptiRecords::Allocation& allocation : records.allocations) {
        Held& held = m_held[allocation.device];
        std::int64_t& bytes = allocation.managed ? held.managed : held.device;
        bytes = std::max<std::int64_t>(0, bytes + allocation.bytes); // may free memory that was allocated before the
                                                                     // recording
        const std::string gpu = "GPU " + std::to_string(allocation.device.value);
        sample(gpu + (allocation.managed ? " managed memory" : " memory taken"), allocation.time,
               static_cast<double>(bytes));
    }
    for (const CuptiRecords::Pool& pool : records.pools) {
        const std::string gpu = "GPU " + std::to_string(pool.device.value);
        sample(gpu + " memory pool", pool.time, static_cast<double>(pool.bytes));
        sample(gpu + " memory pool in use", pool.time, static_cast<double>(pool.used));
    }
}

void CuptiDelivery::end()
{
    // No arrow for an event that was recorded before the recording started, or in another process; this is not a loss.
    // Nor is a wait without a call: CUPTI reports each query that found its work done as a wait, and queries are not
    // recorded.
    deliverHost(std::exchange(m_lastCalls, {}), {});
    m_waits.clear();
    m_streamWaits.clear();
}

void CuptiDelivery::remember(const std::vector<CuptiRecords::HostSlice>& calls)
{
    for (const CuptiRecords::HostSlice& slice : calls)
        if (slice.event.kind != ActivityKind::Overhead && slice.event.link != 0)
            m_calls.insert_or_assign(static_cast<std::uint32_t>(slice.event.link),
                                     Call{slice.tid, slice.event.begin, trackOf(slice.tid)});
    if (m_calls.size() > kRememberedCalls) {
        m_olderCalls = std::move(m_calls);
        m_calls.clear();
    }
}

const CuptiDelivery::Call* CuptiDelivery::callOf(std::uint32_t correlation) const
{
    for (const Calls* calls : {&m_calls, &m_olderCalls})
        if (const auto known = calls->find(correlation); known != calls->end())
            return &known->second;
    return nullptr;
}

} // namespace profiler::capture
