#include "profiler/formats/container/ring_file.h"

#include "profiler/formats/container/file_error.h"
#include "profiler/formats/container/ring_file_layout.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace profiler::wire {

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

} // namespace profiler::wire
