#include "profiler/capture/trace_merger.h"

#include "profiler/capture/rank_environment.h"
#include "profiler/formats/container/frame.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace profiler::capture {

using container::EventRecord;
using container::EventType;
using container::FrameType;

namespace {

// Even with the longest string appended, a frame stays far below the limit of readers.
constexpr std::size_t kStringFrame = 1 << 20;

/// Whether the link of an event is a correlation id.
bool isCorrelated(const EventRecord& record)
{
    if (record.type != EventType::Slice && record.type != EventType::Begin && record.type != EventType::Device)
        return false;
    switch (record.kind) {
    case ActivityKind::CudaRuntime:
    case ActivityKind::CudaDriver:
    case ActivityKind::GpuUserAnnotation:
    case ActivityKind::Sync:
    case ActivityKind::Overhead:
        return true;
    default:
        return isDeviceWork(record.kind);
    }
}

template <class T>
bool takeRaw(std::span<const std::byte>& bytes, T& value)
{
    if (bytes.size() < sizeof value)
        return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes = bytes.subspan(sizeof value);
    return true;
}

} // namespace

std::uint32_t IdRemapping::string(std::string_view text)
{
    const auto [at, isNew] = m_strings.try_emplace(std::string(text), static_cast<std::uint32_t>(m_strings.size()));
    if (!isNew)
        return at->second;
    if (m_newStrings.empty() || m_newStrings.back().size() > kStringFrame)
        m_newStrings.emplace_back();
    container::appendString(m_newStrings.back(), at->second, text);
    return at->second;
}

std::uint32_t IdRemapping::device(std::uint32_t wanted, const std::string& uuid)
{
    if (const auto known = m_devices.find(uuid); known != m_devices.end())
        return known->second;
    while (!m_deviceNumbers.insert(wanted).second)
        ++wanted;
    m_devices.emplace(uuid, wanted);
    return wanted;
}

std::string IdRemapping::withGpuNumber(const std::string& counter) const
{
    const std::size_t end = counter.find(' ');
    const auto known = end != std::string::npos ? m_devices.find(counter.substr(0, end)) : m_devices.end();
    return known != m_devices.end() ? "GPU " + std::to_string(known->second) + counter.substr(end) : counter;
}

void IdRemapping::setMetadata(std::string_view key, std::string_view value)
{
    m_metadata.try_emplace(std::string(key), value);
}

void IdRemapping::setMetadata(const std::map<std::string, std::string>& process)
{
    constexpr std::string_view kProgram = "program";
    const auto ofProgram = [&](const std::string& key) {
        return key.starts_with(kProgram) && (key.size() == kProgram.size() || key[kProgram.size()] == '.');
    };
    std::int64_t steps = 0;
    if (const auto told = process.find("program.steps"); told != process.end())
        std::from_chars(told->second.data(), told->second.data() + told->second.size(), steps);
    const bool describes = process.contains(std::string(kProgram)) && steps > m_programSteps;
    if (describes) {
        std::erase_if(m_metadata, [&](const auto& entry) { return ofProgram(entry.first); });
        m_programSteps = steps;
    }
    for (const auto& [key, value] : process)
        if (!key.starts_with(rank_key::kPrefix) && (describes || m_programSteps < 0 || !ofProgram(key)))
            setMetadata(key, value);
}

void IdRemapping::addLoss(const container::LossEntry& loss)
{
    m_loss.dropped += loss.dropped;
    m_loss.unmatched += loss.unmatched;
}

bool IdRemapping::takeClock()
{
    return !std::exchange(m_hasClock, true);
}

Result<void> IdRemapping::writeStrings()
{
    for (const container::Payload& payload : m_newStrings)
        if (auto written = m_to.write(FrameType::Strings, payload); !written)
            return written;
    m_newStrings.clear();
    return {};
}

Result<void> IdRemapping::write(FrameType type, std::span<const std::byte> payload)
{
    if (auto written = writeStrings(); !written)
        return written;
    return m_to.write(type, payload);
}

Result<void> IdRemapping::finish()
{
    container::Payload payload;
    for (const auto& [key, value] : m_metadata) {
        const std::uint32_t keyId = string(key);
        container::appendMetadata(payload, keyId, string(value));
    }
    if (auto written = write(FrameType::Metadata, payload); !written)
        return written;
    payload.clear();
    container::appendLoss(payload, m_loss);
    if (auto written = write(FrameType::Loss, payload); !written)
        return written;
    return write(FrameType::End, {});
}

std::uint32_t TraceMerger::string(std::uint32_t id)
{
    if (id == 0)
        return 0;
    const auto [at, isNew] = m_strings.try_emplace(id, 0);
    if (isNew)
        at->second = m_trace.string("(lost name " + std::to_string(id) + ")");
    return at->second;
}

TraceMerger::KnownTrack& TraceMerger::track(std::uint32_t number)
{
    const auto [at, isNew] = m_tracks.try_emplace(number);
    if (isNew)
        at->second.number = m_trace.newTrack();
    return at->second;
}

/// CUPTI counts from 1 in each process, so the process number is added above the id's 32 bits.
std::int64_t TraceMerger::correlation(std::int64_t id)
{
    if (id <= 0)
        return id;
    if (!m_launcher)
        m_launcher = m_trace.newLauncher();
    return *m_launcher << 32 | (id & 0xffffffff);
}

Result<void> TraceMerger::take(FrameType type, std::span<const std::byte> payload)
{
    switch (type) {
    case FrameType::Clock:
        return m_trace.takeClock() ? m_trace.write(type, payload) : Result<void>{};
    case FrameType::Strings:
        takeStrings(payload);
        return {};
    case FrameType::Tracks:
        return takeTracks(payload);
    case FrameType::PackedEvents:
        return takePacked(payload);
    case FrameType::Device:
        return takeDevice(payload);
    case FrameType::Metadata:
        for (std::uint32_t pair[2]; takeRaw(payload, pair);)
            m_facts.insert_or_assign(m_texts[pair[0]], m_texts[pair[1]]);
        return {};
    case FrameType::Process: {
        container::ProcessEntry process{};
        if (!takeRaw(payload, process))
            return {};
        process.name = string(process.name);
        return m_trace.write(type, std::as_bytes(std::span(&process, 1)));
    }
    case FrameType::Loss:
        takeRaw(payload, m_loss); // totals: the last one counts
        return {};
    default: // End; parts contain neither Events, which only version 1 has, nor blocks
        return {};
    }
}

void TraceMerger::takeStrings(std::span<const std::byte> payload)
{
    container::StringEntry entry{};
    while (takeRaw(payload, entry) && entry.bytes <= payload.size()) {
        const std::string_view text(reinterpret_cast<const char*>(payload.data()), entry.bytes);
        m_strings[entry.id] = m_trace.string(text);
        m_texts[entry.id] = text;
        payload = payload.subspan(std::min<std::size_t>((entry.bytes + 3) / 4 * 4, payload.size()));
    }
}

Result<void> TraceMerger::writeTrack(const KnownTrack& known)
{
    container::TrackEntry entry = known.entry;
    entry.track = known.number;
    // The process that samples the GPUs names them by UUID; the numbers that the program uses come from other
    // processes.
    entry.name = entry.kind == static_cast<std::uint32_t>(TrackKind::Counter)
                     ? m_trace.string(m_trace.withGpuNumber(m_texts[entry.name]))
                     : string(entry.name);
    entry.unit = string(entry.unit);
    if (const auto device = m_devices.find(entry.device); device != m_devices.end())
        entry.device = device->second;
    return m_trace.write(FrameType::Tracks, std::as_bytes(std::span(&entry, 1)));
}

Result<void> TraceMerger::takeTracks(std::span<const std::byte> payload)
{
    container::TrackEntry entry{};
    while (takeRaw(payload, entry)) {
        KnownTrack& known = track(entry.track);
        known.entry = entry;
        if (auto written = writeTrack(known); !written)
            return written;
    }
    return {};
}

Result<void> TraceMerger::takeDevice(std::span<const std::byte> payload)
{
    container::DeviceEntry entry{};
    if (!takeRaw(payload, entry))
        return {};
    const std::uint32_t wanted = entry.device;
    entry.device = m_trace.device(wanted, m_texts[entry.uuid]);
    entry.name = string(entry.name);
    entry.uuid = string(entry.uuid);
    m_devices[wanted] = entry.device;
    container::DeviceFacts facts{};
    takeRaw(payload, facts);
    container::DeviceLimits limits{};
    takeRaw(payload, limits);
    container::Payload deviceEntry;
    container::appendDevice(deviceEntry, entry, facts, limits);
    if (auto written = m_trace.write(FrameType::Device, deviceEntry); !written)
        return written;
    // Tracks of its streams may have been written before it.
    for (const auto& [number, known] : m_tracks)
        if (wanted != entry.device && known.entry.device == wanted)
            if (auto written = writeTrack(known); !written)
                return written;
    return {};
}

Result<void> TraceMerger::takePacked(std::span<const std::byte> payload)
{
    container::EventBatch batch{};
    std::vector<EventRecord> records;
    while (!payload.empty() && container::takePackedEvents(payload, batch, records))
        if (auto taken = takeBatch(batch, records); !taken)
            return taken;
    return {};
}

Result<void> TraceMerger::takeBatch(const container::EventBatch& batch, std::vector<EventRecord>& records)
{
    KnownTrack& known = track(batch.track);
    std::size_t skip = 0; // number of records that are in both a frame and the ring
    if (batch.firstIndex != container::kNotFromRing) {
        skip = std::min<std::uint64_t>(known.taken > batch.firstIndex ? known.taken - batch.firstIndex : 0,
                                       records.size());
        m_missing += batch.firstIndex > known.taken ? batch.firstIndex - known.taken : 0;
        known.taken = std::max(known.taken, batch.firstIndex + records.size());
    }
    const std::span rest = std::span(records).subspan(skip);
    for (EventRecord& record : rest) {
        if (container::isSecondSlot(record.type))
            continue;
        const bool namesTrack = record.type == EventType::Counter || record.type == EventType::Flow;
        record.name = namesTrack ? track(record.name).number : string(record.name);
        record.detail = string(record.detail);
        if (record.kind == ActivityKind::CpuOp && !namesTrack)
            record.bytes = string(record.bytes);
        if (isCorrelated(record))
            record.link = correlation(record.link);
    }
    m_trace.countEvents(
        static_cast<std::uint64_t>(std::count_if(rest.begin(), rest.end(), [](const EventRecord& record) {
            return record.type == EventType::Slice || record.type == EventType::Device;
        })));
    for (std::size_t at = 0; at < rest.size(); at += container::kMaxPackedRecords) {
        container::Payload payload;
        container::appendPackedEvents(payload, {known.number, 0, container::kNotFromRing},
                                      rest.subspan(at, std::min(container::kMaxPackedRecords, rest.size() - at)));
        if (auto written = m_trace.write(FrameType::PackedEvents, payload); !written)
            return written;
    }
    return {};
}

Result<void> TraceMerger::take(const container::RecoveredEvents& leftovers)
{
    for (const auto& [id, text] : leftovers.strings) {
        m_strings[id] = m_trace.string(text);
        m_texts[id] = text;
    }
    for (const container::TrackEntry& entry : leftovers.tracks) {
        KnownTrack& known = track(entry.track);
        known.entry = entry;
        if (auto written = writeTrack(known); !written)
            return written;
    }
    for (const auto& thread : leftovers.lanes) {
        std::vector<EventRecord> records = thread.events;
        const container::EventBatch batch{thread.track.track, static_cast<std::uint32_t>(records.size()),
                                          thread.firstIndex};
        if (auto taken = takeBatch(batch, records); !taken)
            return taken;
    }
    m_loss.dropped = std::max(m_loss.dropped, leftovers.dropped);
    m_loss.unmatched = std::max(m_loss.unmatched, leftovers.unmatched);
    return {};
}

void TraceMerger::end()
{
    m_trace.addLoss({m_loss.dropped + m_missing, m_loss.unmatched});
    m_trace.setMetadata(m_facts);
}

} // namespace profiler::capture
