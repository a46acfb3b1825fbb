#include "tests/capture/parsed_trace.h"

#include "profiler/formats/container/frame.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

namespace capture_test {

using namespace profiler::container;

namespace {

/// Reads fixed-size items from the start of a byte range.
class Bytes {
public:
    explicit Bytes(std::string_view bytes) : m_rest(bytes) {}
    template <class T>
    bool take(T& to)
    {
        if (m_rest.size() < sizeof to)
            return false;
        std::memcpy(&to, m_rest.data(), sizeof to);
        m_rest.remove_prefix(sizeof to);
        return true;
    }
    std::string_view text(std::size_t size)
    {
        const std::string_view part = m_rest.substr(0, size);
        m_rest.remove_prefix(part.size());
        return part;
    }
    [[nodiscard]] std::size_t size() const { return m_rest.size(); }

private:
    std::string_view m_rest;
};

void takeStrings(ParsedTrace& trace, Bytes bytes)
{
    StringEntry entry{};
    while (bytes.take(entry)) {
        trace.strings[entry.id] = bytes.text(entry.bytes);
        bytes.text((4 - entry.bytes % 4) % 4);
    }
}

void takeTracks(ParsedTrace& trace, Bytes bytes)
{
    TrackEntry entry{};
    while (bytes.take(entry)) {
        if (!trace.strings.contains(entry.name))
            trace.problems.push_back("track " + std::to_string(entry.track) +
                                     " has a name that was not defined before");
        trace.tracks[entry.track] = entry;
    }
}

void takeBatch(ParsedTrace& trace, const EventBatch& batch, const std::vector<EventRecord>& records)
{
    if (!trace.tracks.contains(batch.track))
        trace.problems.push_back("events of unknown track " + std::to_string(batch.track));
    const bool ring = batch.firstIndex != kNotFromRing;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const EventRecord& record = records[i];
        if (!isSecondSlot(record.type) && record.type != EventType::Counter && record.type != EventType::Flow &&
            !trace.strings.contains(record.name))
            trace.problems.push_back("an event has a name that was not defined before");
        trace.events.push_back({batch.track, ring ? batch.firstIndex + i : kNotFromRing, record});
    }
    if (ring) {
        std::uint64_t& next = trace.nextIndex[batch.track];
        next = std::max(next, batch.firstIndex + batch.count);
    }
}

void takePacked(ParsedTrace& trace, Bytes bytes)
{
    const std::string_view text = bytes.text(bytes.size());
    std::span<const std::byte> payload(reinterpret_cast<const std::byte*>(text.data()), text.size());
    EventBatch batch{};
    std::vector<EventRecord> records;
    while (!payload.empty()) {
        if (!takePackedEvents(payload, batch, records)) {
            trace.problems.push_back("packed events are unreadable");
            return;
        }
        takeBatch(trace, batch, records);
    }
}

void takePayload(ParsedTrace& trace, FrameType type, Bytes bytes)
{
    switch (type) {
    case FrameType::Clock:
        bytes.take(trace.clocks.emplace_back());
        break;
    case FrameType::Strings:
        takeStrings(trace, bytes);
        break;
    case FrameType::Tracks:
        takeTracks(trace, bytes);
        break;
    case FrameType::Events:
        trace.problems.push_back("events in the layout of version 1");
        break;
    case FrameType::PackedEvents:
        takePacked(trace, bytes);
        break;
    case FrameType::Process:
        for (ProcessEntry process; bytes.take(process);)
            trace.processes[process.pid] = trace.strings.at(process.name);
        break;
    case FrameType::Device:
        bytes.take(trace.devices.emplace_back());
        break;
    case FrameType::Metadata:
        for (std::uint32_t pair[2]; bytes.take(pair);)
            trace.metadata[trace.strings.at(pair[0])] = trace.strings.at(pair[1]);
        break;
    case FrameType::Loss:
        bytes.take(trace.loss);
        break;
    case FrameType::End:
        trace.ended = true;
        break;
    default:
        trace.problems.push_back("a frame of a sealed file");
    }
}

} // namespace

std::string ParsedTrace::name(const Event& event) const
{
    const auto at = strings.find(event.record.name);
    return at != strings.end() ? at->second : "?";
}

std::vector<ParsedTrace::Event> ParsedTrace::of(std::string_view trackName) const
{
    std::vector<Event> found;
    for (const Event& event : events)
        if (strings.at(tracks.at(event.track).name) == trackName)
            found.push_back(event);
    return found;
}

void ParsedTrace::add(const RecoveredEvents& leftovers)
{
    for (const auto& [id, text] : leftovers.strings)
        strings[id] = text;
    for (const TrackEntry& track : leftovers.tracks)
        tracks[track.track] = track;
    for (const RecoveredEvents::Lane& lane : leftovers.lanes)
        for (std::size_t i = 0; i < lane.events.size(); ++i)
            if (lane.firstIndex + i >= nextIndex[lane.track.track])
                events.push_back({lane.track.track, lane.firstIndex + i, lane.events[i]});
}

ParsedTrace parseTrace(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(file)), {});
    ParsedTrace trace;
    Bytes bytes(content);
    FileHeader header{};
    if (!bytes.take(header) || std::memcmp(header.magic, kFileMagic, sizeof kFileMagic) != 0)
        return trace;
    trace.runId = header.runId;
    FrameHeader frame{};
    std::uint32_t sequence = 0;
    for (Bytes next = bytes; next.take(frame); bytes = next) {
        const std::string_view payload = next.text(frame.payloadBytes);
        const auto check = std::as_bytes(std::span(payload.data(), payload.size()));
        if (frame.magic != kFrameMagic || payload.size() != frame.payloadBytes ||
            frameChecksum(frame, check) != frame.checksum)
            break;
        if (frame.sequence != sequence++)
            trace.problems.push_back("a gap before frame " + std::to_string(frame.sequence));
        takePayload(trace, frame.type, Bytes(payload));
    }
    trace.whole = bytes.size() == 0;
    return trace;
}

} // namespace capture_test
