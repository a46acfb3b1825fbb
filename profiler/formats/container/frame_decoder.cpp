#include "profiler/formats/container/frame_decoder.h"

#include "profiler/formats/container/frame.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/core.h>
#include <iterator>
#include <limits>
#include <sstream>
#include <unordered_set>
#include <utility>

namespace profiler::container {
namespace {

constexpr std::uint32_t kDenseStrings = 1U << 20;
/// A run has hundreds of tracks. A forged file could declare millions, each of which takes memory.
constexpr std::size_t kMaxTracks = 1U << 16;

/// Removes one T from the front. Returns false and removes nothing if there are not enough bytes.
template <class T>
bool takeRaw(std::span<const std::byte>& bytes, T& value)
{
    if (bytes.size() < sizeof(T))
        return false;
    std::memcpy(&value, bytes.data(), sizeof(T));
    bytes = bytes.subspan(sizeof(T));
    return true;
}

template <class Enum>
Enum checked(Enum value, Enum last)
{
    return value <= last ? value : Enum{};
}

std::int64_t difference(std::int64_t later, std::int64_t earlier)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier));
}

/// Stores the link of a record in the field for its kind.
void setLink(Slice& slice, std::int64_t link)
{
    switch (slice.kind) {
    case ActivityKind::CpuOp:
        slice.sequence = link;
        break;
    case ActivityKind::CudaRuntime:
    case ActivityKind::CudaDriver:
    case ActivityKind::Kernel:
    case ActivityKind::GpuMemcpy:
    case ActivityKind::GpuMemset:
    case ActivityKind::GpuUserAnnotation:
    case ActivityKind::Sync:
    case ActivityKind::Overhead:
        slice.correlation = CorrelationId{static_cast<std::uint64_t>(link)};
        break;
    default:
        slice.args.value = link;
    }
}

LaunchConfig launchOf(const LaunchRecord& record)
{
    LaunchConfig launch;
    std::copy(std::begin(record.grid), std::end(record.grid), launch.grid.begin());
    std::copy(std::begin(record.block), std::end(record.block), launch.block.begin());
    if (record.registers != 0)
        launch.registers = record.registers;
    // A damaged file may contain figures whose sum does not fit.
    launch.sharedMemory = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::uint64_t{record.staticSharedMemory} + record.dynamicSharedMemory,
                                std::numeric_limits<std::uint32_t>::max()));
    launch.dynamicSharedMemory = record.dynamicSharedMemory;
    launch.localMemory = record.localMemory;
    return launch;
}

constexpr std::string_view kTooShort = "its entries do not match its size";

} // namespace

FrameDecoder::FrameDecoder(TraceBuilder& builder) : m_builder(builder) {}

std::string FrameDecoder::take(FrameType type, Bytes payload)
{
    switch (type) {
    case FrameType::Clock:
        return takeClock(payload);
    case FrameType::Strings:
        return takeStrings(payload);
    case FrameType::Tracks:
        return takeTracks(payload);
    case FrameType::Events:
        return takeEvents(payload);
    case FrameType::PackedEvents:
        return takePacked(payload);
    case FrameType::Process:
        return takeProcess(payload);
    case FrameType::Device:
        return takeDevice(payload);
    case FrameType::Metadata:
        return takeMetadata(payload);
    case FrameType::Loss:
        return takeLoss(payload);
    case FrameType::End:
        return {};
    default:
        return fmt::format("its type {} is unknown and was probably written by a newer version of Stepscope",
                           static_cast<std::uint32_t>(type));
    }
}

std::string FrameDecoder::takeClock(Bytes payload)
{
    ClockTriple clock{};
    if (!takeRaw(payload, clock))
        return std::string{kTooShort};
    m_builder.setMetadata("clock.realtime_minus_monotonic_ns",
                          std::to_string(difference(clock.realtimeNs, clock.monotonicNs)));
    return {};
}

std::string FrameDecoder::takeStrings(Bytes payload)
{
    constexpr std::size_t kAlignment = 4;
    StringEntry entry{};
    while (takeRaw(payload, entry)) {
        if (entry.bytes > payload.size())
            return std::string{kTooShort};
        defineString(entry.id, {reinterpret_cast<const char*>(payload.data()), entry.bytes});
        const std::size_t padded = (std::size_t{entry.bytes} + kAlignment - 1) / kAlignment * kAlignment;
        payload = payload.subspan(std::min(padded, payload.size()));
    }
    return std::string{payload.empty() ? std::string_view{} : kTooShort};
}

std::string FrameDecoder::takeTracks(Bytes payload)
{
    TrackEntry entry{};
    while (takeRaw(payload, entry))
        defineTrack(entry);
    return std::string{payload.empty() ? std::string_view{} : kTooShort};
}

std::string FrameDecoder::takeDevice(Bytes payload)
{
    DeviceEntry entry{};
    if (!takeRaw(payload, entry))
        return std::string{kTooShort};
    DeviceFacts facts{}; // version 1 has none
    takeRaw(payload, facts);
    DeviceLimits limits{}; // since version 3
    takeRaw(payload, limits);
    m_builder.addDevice({DeviceId{entry.device},
                         text(entry.name),
                         text(entry.uuid),
                         facts.computeMajor,
                         facts.computeMinor,
                         facts.memoryBytes,
                         limits.multiprocessors,
                         {limits.threads, limits.blocks, limits.registers, limits.sharedMemory}});
    return {};
}

void FrameDecoder::takeFact(const std::string& key, const std::string& value)
{
    constexpr std::string_view kNote = ".note";
    if (!key.ends_with(kNote)) {
        m_builder.setMetadata(key, value);
        return;
    }
    std::istringstream lines(value);
    std::string texts;
    for (std::string line; std::getline(lines, line);) {
        Message note = messageOfLine(line);
        if (note.empty())
            continue;
        texts += (texts.empty() ? "" : "\n") + note.text;
        if (note.id.empty()) // written by a program that does not use message ids: a script or a hook
            note = message<"recording.note", "{note}">(
                {{"note", note.text}, {"source", key.substr(0, key.size() - kNote.size())}});
        if (m_notes.size() < kMostNotes && std::find(m_notes.begin(), m_notes.end(), note) == m_notes.end())
            m_notes.push_back(std::move(note));
    }
    m_builder.setMetadata(key, texts);
}

std::string FrameDecoder::takeMetadata(Bytes payload)
{
    std::pair<std::uint32_t, std::uint32_t> entry;
    while (takeRaw(payload, entry.first) && takeRaw(payload, entry.second))
        takeFact(text(entry.first), text(entry.second));
    return std::string{payload.empty() ? std::string_view{} : kTooShort};
}

std::string FrameDecoder::takeLoss(Bytes payload)
{
    return std::string{takeRaw(payload, m_loss) ? std::string_view{} : kTooShort};
}

std::string FrameDecoder::takeEvents(Bytes payload)
{
    EventBatch batch{};
    std::vector<EventRecord> records;
    while (takeRaw(payload, batch)) {
        const std::size_t bytes = std::size_t{batch.count} * sizeof(EventRecord);
        if (bytes > payload.size())
            return std::string{kTooShort};
        records.resize(batch.count);
        if (!records.empty())
            std::memcpy(records.data(), payload.data(), bytes);
        payload = payload.subspan(bytes);
        takeBatch(batch, records);
    }
    return std::string{payload.empty() ? std::string_view{} : kTooShort};
}

std::string FrameDecoder::takePacked(Bytes payload)
{
    EventBatch batch{};
    std::vector<EventRecord> records;
    while (!payload.empty()) {
        const bool whole = takePackedEvents(payload, batch, records);
        if (!records.empty())
            takeBatch(batch, records);
        if (!whole)
            return std::string{kTooShort};
    }
    return {};
}

std::string FrameDecoder::takeProcess(Bytes payload)
{
    ProcessEntry entry{};
    std::unordered_set<std::int64_t> named;
    while (takeRaw(payload, entry)) {
        std::string name = text(entry.name);
        std::string& known = m_processes[entry.pid];
        if (known != name)
            named.insert(entry.pid);
        known = std::move(name);
    }
    std::vector<TrackEntry> tracks;
    for (const auto& [number, known] : m_tracks)
        if (!named.empty() && known.entry && named.contains(known.entry->pid))
            tracks.push_back(*known.entry);
    for (const TrackEntry& track : tracks)
        defineTrack(track);
    return std::string{payload.empty() ? std::string_view{} : kTooShort};
}

void FrameDecoder::defineString(std::uint32_t id, std::string_view text)
{
    const StringId made = m_builder.intern(text);
    if (id >= kDenseStrings) {
        m_farStrings[id] = made;
        return;
    }
    if (id >= m_strings.size())
        m_strings.resize(id + 1);
    m_strings[id] = made;
}

StringId FrameDecoder::string(std::uint32_t id)
{
    if (id < m_strings.size() && m_strings[id])
        return *m_strings[id];
    if (const auto found = m_farStrings.find(id); found != m_farStrings.end())
        return found->second;
    return id == 0 ? StringId{} : m_builder.intern(fmt::format("(lost name {})", id));
}

FrameDecoder::KnownTrack* FrameDecoder::track(std::uint32_t number, TrackKind kindIfUnknown)
{
    if (const auto found = m_tracks.find(number); found != m_tracks.end())
        return &found->second;
    if (m_tracks.size() >= kMaxTracks)
        return nullptr;
    Track unknown;
    unknown.kind = kindIfUnknown;
    unknown.name = fmt::format("(lost name of track {})", number);
    return &m_tracks.emplace(number, KnownTrack{m_builder.addTrack(std::move(unknown))}).first->second;
}

void FrameDecoder::defineTrack(const TrackEntry& entry)
{
    Track made;
    made.kind =
        entry.kind < static_cast<std::uint32_t>(kTrackKinds) ? static_cast<TrackKind>(entry.kind) : TrackKind::Thread;
    made.name = text(entry.name);
    made.unit = text(entry.unit);
    made.pid = entry.pid;
    made.tid = entry.tid;
    made.device = DeviceId{entry.device};
    made.stream = StreamId{entry.stream};
    if (const auto process = m_processes.find(entry.pid); process != m_processes.end())
        made.processName = process->second;
    if (KnownTrack* const known = track(entry.track, made.kind)) {
        known->entry = entry;
        m_builder.updateTrack(known->id, std::move(made));
    }
}

std::size_t FrameDecoder::takeBatch(const EventBatch& batch, std::span<const EventRecord> records)
{
    KnownTrack* const known = track(batch.track, TrackKind::Thread);
    if (!known) {
        m_odd += records.size();
        return 0;
    }
    const TrackId id = known->id;
    if (batch.firstIndex != kNotFromRing) {
        const std::uint64_t end =
            batch.firstIndex > kNotFromRing - records.size() ? kNotFromRing : batch.firstIndex + records.size();
        const std::uint64_t seen = known->taken > batch.firstIndex ? known->taken - batch.firstIndex : 0;
        m_missing += batch.firstIndex > known->taken ? batch.firstIndex - known->taken : 0;
        known->taken = std::max(known->taken, end);
        records = records.subspan(std::min<std::size_t>(seen, records.size()));
    }
    for (std::size_t i = 0; i < records.size(); ++i) {
        const bool extended =
            records[i].type == EventType::Device && i + 1 < records.size() && isSecondSlot(records[i + 1].type);
        takeRecord(id, records[i], extended ? &records[i + 1] : nullptr);
        i += extended ? 1 : 0;
    }
    return records.size();
}

void FrameDecoder::takeRecord(TrackId track, const EventRecord& record, const EventRecord* second)
{
    if (record.type == EventType::Counter) {
        takeSample(record);
        return;
    }
    if (record.type == EventType::Flow) {
        if (const KnownTrack* const to = this->track(record.name, TrackKind::Thread))
            m_builder.addFlow(FlowKind::Async, {track, traceTime(record.begin)}, {to->id, traceTime(record.end)});
        return;
    }
    if (record.type > EventType::Device || (record.type == EventType::Device && !second)) {
        ++m_odd;
        if (record.type != EventType::Device)
            return;
    }
    Slice slice;
    slice.kind = checked(record.kind, ActivityKind::Nvtx);
    slice.name = string(record.name);
    slice.depth = record.depth;
    slice.flags = record.flags & (slice_flag::kOpen | slice_flag::kBackward | slice_flag::kAsync);
    slice.begin = traceTime(record.begin);
    if (slice.kind == ActivityKind::CpuOp) {
        slice.args.shapes = string(record.detail);
        slice.args.types = string(record.bytes);
    } else if (slice.kind == ActivityKind::CudaRuntime || slice.kind == ActivityKind::CudaDriver) {
        slice.externalId = record.bytes;
    } else {
        slice.args.bytes = record.bytes;
    }
    setLink(slice, record.link);
    if (second && second->type == EventType::Extra)
        addExtra(slice.args, std::bit_cast<ExtraRecord>(*second));
    else if (second)
        slice.args.launch = m_builder.internLaunch(launchOf(std::bit_cast<LaunchRecord>(*second)));
    const bool odd = slice.kind != record.kind || (record.type != EventType::Begin && record.end < record.begin);
    m_odd += odd ? 1 : 0;
    if (record.type == EventType::Begin) {
        m_builder.begin(track, slice);
        return;
    }
    // An interval of more than 292 years also has an invalid end.
    slice.duration =
        Nanoseconds{std::max<std::int64_t>(record.end < record.begin ? 0 : difference(record.end, record.begin), 0)};
    m_builder.add(track, slice);
}

void FrameDecoder::addExtra(SliceArgs& args, const ExtraRecord& extra)
{
    args.bytes =
        static_cast<std::int64_t>(std::min<std::uint64_t>(extra.bytes, std::numeric_limits<std::int64_t>::max()));
    args.copy = checked(extra.copy, CopyKind::HtoH);
    args.src = checked(extra.src, MemoryKind::Managed);
    args.dst = checked(extra.dst, MemoryKind::Managed);
    LaunchConfig launch;
    std::copy(std::begin(extra.grid), std::end(extra.grid), launch.grid.begin());
    std::copy(std::begin(extra.block), std::end(extra.block), launch.block.begin());
    args.launch = m_builder.internLaunch(launch);
}

void FrameDecoder::takeSample(const EventRecord& record)
{
    if (const KnownTrack* counter = track(record.name, TrackKind::Counter))
        m_builder.addSample(counter->id, {traceTime(record.begin), std::bit_cast<double>(record.link)});
    else
        ++m_odd;
}

std::size_t FrameDecoder::takeRecoveredEvents(const RecoveredEvents& recovered)
{
    for (const auto& [id, text] : recovered.strings)
        defineString(id, text);
    for (const TrackEntry& entry : recovered.tracks)
        defineTrack(entry);
    std::size_t events = 0;
    for (const RecoveredEvents::Lane& lane : recovered.lanes) {
        EventBatch batch{};
        batch.track = lane.track.track;
        batch.firstIndex = lane.firstIndex;
        events += takeBatch(batch, lane.events);
    }
    m_loss.dropped = std::max(m_loss.dropped, recovered.dropped);
    m_loss.unmatched = std::max(m_loss.unmatched, recovered.unmatched);
    return events;
}

} // namespace profiler::container
