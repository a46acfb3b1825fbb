#include "profiler/formats/container/ring_file.h"

#include "profiler/formats/container/trace_file.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace profiler::container {

namespace {

/// The ring file of a dead run, read by position: if the file shrinks, reads are short instead of causing SIGBUS.
class RingReader {
public:
    explicit RingReader(os::Descriptor file) : m_file(std::move(file)) {}

    [[nodiscard]] bool read(std::uint64_t offset, void* to, std::size_t bytes) const
    {
        const std::span into(static_cast<std::byte*>(to), bytes);
        return os::readAt(m_file.get(), offset, into).bytes == bytes;
    }
    template <class T>
    [[nodiscard]] bool read(std::uint64_t offset, T& to) const
    {
        return read(offset, &to, sizeof to);
    }
    [[nodiscard]] std::uint64_t size() const
    {
        const auto state = os::stateOf(m_file.get());
        return state ? state->bytes : 0;
    }

private:
    os::Descriptor m_file;
};

bool isPlausible(const EventRecord& record)
{
    const bool type =
        record.type == EventType::Slice || record.type == EventType::Begin || record.type == EventType::Counter;
    return type && static_cast<int>(record.kind) < kActivityKinds;
}

bool readStrings(const RingReader& file, const RingHeader& header, const RingLayout& layout, RecoveredEvents& into)
{
    // Allocates only for bytes that exist, whatever the header claims.
    const std::uint64_t there = file.size() > layout.stringsAt() ? file.size() - layout.stringsAt() : 0;
    const std::uint64_t used = std::min({header.stringBytes, layout.stringCapacity, there});
    std::string bytes(used, '\0');
    if (!file.read(layout.stringsAt(), bytes.data(), used))
        return false;
    std::uint64_t at = 0;
    while (at + sizeof(StringEntry) <= used) {
        StringEntry entry{};
        std::memcpy(&entry, bytes.data() + at, sizeof entry);
        at += sizeof entry;
        if (entry.bytes > kMaxStringBytes || entry.bytes > used - at)
            return false;
        into.strings.emplace_back(entry.id, bytes.substr(at, entry.bytes));
        at += (std::uint64_t{entry.bytes} + 3) / 4 * 4;
    }
    return used == header.stringBytes;
}

bool readTracks(const RingReader& file, const RingHeader& header, const RingLayout& layout, RecoveredEvents& into)
{
    const std::uint32_t count = std::min(header.tracks, layout.maxTracks);
    for (std::uint32_t i = 0; i < count; ++i) {
        TrackEntry entry{};
        // Tracks are numbered in the order of creation; a later entry of the same track replaces the earlier one.
        if (!file.read(layout.tracksAt() + std::uint64_t{i} * sizeof entry, entry) || entry.track > into.tracks.size())
            return false;
        if (entry.track == into.tracks.size())
            into.tracks.push_back(entry);
        else
            into.tracks[entry.track] = entry;
    }
    return count == header.tracks;
}

bool readLane(const RingReader& file, const RingLayout& layout, std::uint32_t index, RecoveredEvents& into)
{
    const std::uint64_t at = layout.laneAt(index);
    LaneHeader header{};
    if (!file.read(at, header))
        return false;
    into.dropped += header.dropped;
    into.unmatched += header.unmatched;
    const std::uint64_t count = header.written - header.read;
    const auto track = std::find_if(into.tracks.begin(), into.tracks.end(),
                                    [&](const TrackEntry& entry) { return entry.track == header.track; });
    if (header.trackBegin > header.read || header.read > header.written || count > layout.laneEvents ||
        track == into.tracks.end())
        return false;
    // Allocates only for records that exist, whatever the header claims.
    if (at + layout.laneBytes() > file.size())
        return false;
    RecoveredEvents::Lane lane{*track, header.read - header.trackBegin, std::vector<EventRecord>(count)};
    const std::uint64_t records = at + sizeof(LaneHeader);
    const std::uint64_t slot = header.read & (layout.laneEvents - 1);
    const std::uint64_t upToEnd = std::min(count, layout.laneEvents - slot);
    const bool read =
        file.read(records + slot * sizeof(EventRecord), lane.events.data(), upToEnd * sizeof(EventRecord)) &&
        file.read(records, lane.events.data() + upToEnd, (count - upToEnd) * sizeof(EventRecord));
    const auto damage =
        read ? std::find_if_not(lane.events.begin(), lane.events.end(), isPlausible) : lane.events.begin();
    const bool whole = damage == lane.events.end();
    lane.events.erase(damage, lane.events.end());
    if (!lane.events.empty())
        into.lanes.push_back(std::move(lane));
    return whole;
}

std::optional<RingLayout> layoutOf(const RingHeader& header)
{
    const bool ours = std::memcmp(header.magic, kRingMagic, sizeof kRingMagic) == 0 && header.version >= 1 &&
                      header.version <= kRingVersion && header.headerBytes == sizeof(RingHeader);
    const RingLayout layout{header.maxLanes, header.laneEvents, header.maxTracks, header.stringCapacity};
    return ours && layout.plausible() ? std::optional(layout) : std::nullopt;
}

} // namespace

Result<RecoveredEvents> recoverRing(const std::filesystem::path& trace, std::uint64_t runId)
{
    const auto path = ringPath(trace);
    os::Descriptor descriptor = os::openToRead(path);
    if (!descriptor)
        return tl::unexpected(fileError<"ring.open", "cannot open the ring file of the recording: {why}">(errno, path));
    const RingReader file(std::move(descriptor));
    RingHeader header{};
    const auto malformed = makeError<"ring.damaged", "the ring file of the recording is damaged">(
        Error::Code::Malformed, path.string(), "the trace opens without the last events before the run stopped");
    if (!file.read(0, header))
        return tl::unexpected(malformed);
    const auto layout = layoutOf(header);
    if (!layout)
        return tl::unexpected(malformed);
    if (header.runId != runId)
        return fail<"ring.other_run", "the ring file belongs to a different run than the trace">(Error::Code::NotFound,
                                                                                                 path.string());

    RecoveredEvents found;
    found.dropped = header.dropped;
    found.unmatched = header.unmatched;
    found.damaged += readStrings(file, header, *layout, found) ? 0 : 1;
    found.damaged += readTracks(file, header, *layout, found) ? 0 : 1;
    const std::uint32_t lanes = std::min(header.lanes, layout->maxLanes);
    found.damaged += lanes == header.lanes ? 0 : 1;
    for (std::uint32_t i = 0; i < lanes; ++i)
        found.damaged += readLane(file, *layout, i, found) ? 0 : 1;
    return found;
}

std::filesystem::path ringPath(const std::filesystem::path& trace)
{
    auto path = trace;
    path += ".ring";
    return path;
}

namespace {

// Strings arrive in small pieces; disk space for them is allocated 1 MiB at a time, with one system call.
constexpr std::uint64_t kStringStep = 1 << 20;

void fillHeader(RingHeader& header, const RingLayout& layout, std::uint64_t runId)
{
    std::memcpy(header.magic, kRingMagic, sizeof kRingMagic);
    header.version = kRingVersion;
    header.headerBytes = sizeof(RingHeader);
    header.pid = os::processId();
    header.runId = runId;
    header.maxLanes = layout.maxLanes;
    header.laneEvents = layout.laneEvents;
    header.maxTracks = layout.maxTracks;
    header.stringCapacity = layout.stringCapacity;
}

} // namespace

Result<std::unique_ptr<LiveRing>> LiveRing::create(const std::filesystem::path& path, const RingLayout& layout,
                                                   std::uint64_t runId)
{
    std::unique_ptr<LiveRing> ring(new LiveRing);
    ring->m_path = path;
    ring->m_layout = layout;
    auto temporary = path;
    temporary += "." + std::to_string(os::processId()) + "." + std::to_string(runId);
    if (!ring->m_file.create(temporary, os::OwnFile::Use::Map))
        return tl::unexpected(
            fileError<"ring.make", "cannot create the ring file of the recording: {why}">(errno, path));
    ring->m_temporary = temporary;
    const int file = ring->m_file.number(temporary);
    if (const int error = os::resize(file, layout.fileBytes()))
        return tl::unexpected(
            fileError<"ring.make", "cannot create the ring file of the recording: {why}">(error, path));
    // Also allocates the first thread buffer, because a recording without room for the main thread's events must not
    // start.
    if (auto taken = ring->takeSpace(0, layout.laneAt(1)); !taken)
        return tl::unexpected(taken.error());
    auto mapping = os::SharedMapping::map(file, layout.fileBytes());
    if (!mapping)
        return tl::unexpected(
            fileError<"ring.map", "cannot map the ring file of the recording into memory: {why}">(errno, path));
    ring->m_mapping.emplace(std::move(*mapping));
    ring->m_memory = ring->m_mapping->data();
    fillHeader(ring->header(), layout, runId);
    return ring;
}

LiveRing::~LiveRing()
{
    std::error_code ignored;
    if (!m_temporary.empty())
        std::filesystem::remove(m_temporary, ignored);
}

Result<void> LiveRing::publish()
{
    std::error_code failed;
    std::filesystem::rename(m_temporary, m_path, failed);
    if (failed)
        return tl::unexpected(
            fileError<"ring.name", "cannot rename the ring file of the recording: {why}">(failed.value(), m_path));
    m_temporary.clear();
    return {};
}

void LiveRing::remove()
{
    std::error_code ignored;
    std::filesystem::remove(m_path, ignored);
}

Result<void> LiveRing::takeSpace(std::uint64_t offset, std::uint64_t bytes)
{
    const int file = m_file.number(m_temporary.empty() ? m_path : m_temporary);
    if (file < 0)
        return tl::unexpected(
            fileError<"ring.no_room", "no room for the ring file of the recording: {why}">(errno, m_path));
    if (const int failed = os::reserve(file, offset, bytes))
        return tl::unexpected(
            fileError<"ring.no_room", "no room for the ring file of the recording: {why}">(failed, m_path));
    return {};
}

RingHeader& LiveRing::header() const
{
    return *reinterpret_cast<RingHeader*>(m_memory);
}

Result<LiveRing::Lane> LiveRing::addLane(std::uint32_t track)
{
    const std::lock_guard lock(m_growing);
    std::atomic_ref made(header().lanes);
    const std::uint32_t index = made.load(std::memory_order_relaxed);
    if (index >= m_layout.maxLanes)
        return fail<"ring.threads", "only {threads} threads can be recorded, but the program has more">(
            Error::Code::Unavailable, m_path.string(), "events of the other threads are counted as lost",
            {{"threads", index}});
    if (auto taken = takeSpace(m_layout.laneAt(index), m_layout.laneBytes()); !taken)
        return tl::unexpected(taken.error());
    std::byte* at = m_memory + m_layout.laneAt(index);
    Lane lane{reinterpret_cast<LaneHeader*>(at), reinterpret_cast<EventRecord*>(at + sizeof(LaneHeader))};
    lane.header->track = track;
    made.store(index + 1, std::memory_order_release);
    return lane;
}

void LiveRing::putTrack(const TrackEntry& entry)
{
    const std::lock_guard lock(m_growing);
    std::atomic_ref made(header().tracks);
    const std::uint32_t place = made.load(std::memory_order_relaxed);
    if (place >= m_layout.maxTracks)
        return;
    std::memcpy(m_memory + m_layout.tracksAt() + std::uint64_t{place} * sizeof(TrackEntry), &entry, sizeof entry);
    made.store(place + 1, std::memory_order_release);
}

std::optional<std::string_view> LiveRing::putString(std::uint32_t id, std::string_view text)
{
    const StringEntry entry{id, static_cast<std::uint32_t>(text.size())};
    std::atomic_ref used(header().stringBytes);
    const std::uint64_t at = used.load(std::memory_order_relaxed);
    const std::uint64_t end = at + sizeof entry + (text.size() + 3) / 4 * 4;
    if (end > m_layout.stringCapacity)
        return std::nullopt;
    if (end > m_stringsTaken) {
        const std::uint64_t more = std::min(m_layout.stringCapacity, end + kStringStep) - m_stringsTaken;
        const std::lock_guard lock(m_growing);
        if (!takeSpace(m_layout.stringsAt() + m_stringsTaken, more))
            return std::nullopt;
        m_stringsTaken += more;
    }
    std::byte* to = m_memory + m_layout.stringsAt() + at;
    std::memcpy(to, &entry, sizeof entry);
    if (!text.empty())
        std::memcpy(to + sizeof entry, text.data(), text.size());
    used.store(end, std::memory_order_release);
    return std::string_view(reinterpret_cast<const char*>(to + sizeof entry), text.size());
}

void LiveRing::countLoss(std::uint64_t dropped, std::uint64_t unmatched)
{
    std::atomic_ref(header().dropped).fetch_add(dropped, std::memory_order_relaxed);
    std::atomic_ref(header().unmatched).fetch_add(unmatched, std::memory_order_relaxed);
}

} // namespace profiler::container
