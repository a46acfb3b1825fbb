#include "profiler/capture/cupti_delivery.h"

#include <bit>
#include <utility>

namespace profiler::capture {

namespace {
constexpr std::size_t kRememberedCalls = 1 << 15;
constexpr std::size_t kWaitsInHand = 1 << 12;
} // namespace

void CuptiDelivery::deliver(const CuptiRecords& records)
{
    for (const CuptiRecords::Device& device : records.devices)
        if (m_devices.try_emplace(device.id, device.uuid).second)
            m_recorder.addDevice(device.id, device.name, device.uuid);

    std::map<std::pair<DeviceId, StreamId>, std::vector<wire::EventRecord>> streams;
    for (const CuptiRecords::DeviceWork& work : records.work) {
        auto& batch = streams[{work.device, work.stream}];
        batch.push_back(work.event);
        batch.push_back(std::bit_cast<wire::EventRecord>(work.extra));
    }
    for (const auto& [stream, batch] : streams)
        m_recorder.addBatch(m_recorder.streamTrack(stream.first, stream.second), batch);

    remember(records);
    std::map<std::int64_t, std::vector<wire::EventRecord>> threads;
    for (const CuptiRecords::HostSlice& slice : records.host)
        threads[slice.tid].push_back(slice.event);
    m_waits.insert(m_waits.end(), records.waits.begin(), records.waits.end());
    std::erase_if(m_waits, [&](const CuptiRecords::HostWait& wait) {
        const std::int64_t* tid = threadOf(wait.correlation);
        if (tid)
            threads[*tid].push_back(wait.event);
        return tid != nullptr;
    });
    for (const auto& [tid, batch] : threads)
        m_recorder.addBatch(m_recorder.threadTrack(tid), batch);

    if (m_waits.size() > kWaitsInHand)
        end();
    // Only kinds that were asked for come, so one that is not known is a record that is lost.
    if (records.damaged + records.unknown > 0)
        m_recorder.countLoss(records.damaged + records.unknown, 0);
}

void CuptiDelivery::end()
{
    if (!m_waits.empty())
        m_recorder.countLoss(0, m_waits.size());
    m_waits.clear();
}

void CuptiDelivery::remember(const CuptiRecords& records)
{
    for (const CuptiRecords::HostSlice& slice : records.host)
        if (slice.event.kind != ActivityKind::Overhead)
            m_calls.insert_or_assign(static_cast<std::uint32_t>(slice.event.link), slice.tid);
    if (m_calls.size() > kRememberedCalls) {
        m_olderCalls = std::move(m_calls);
        m_calls.clear();
    }
}

const std::int64_t* CuptiDelivery::threadOf(std::uint32_t correlation) const
{
    for (const Calls* calls : {&m_calls, &m_olderCalls})
        if (const auto known = calls->find(correlation); known != calls->end())
            return &known->second;
    return nullptr;
}

} // namespace profiler::capture
