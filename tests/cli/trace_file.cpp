#include "profiler/formats/container/trace_file.h"
#include "profiler/formats/container/frame.h"
#include "tests/cli/cli_program.h"

#include <bit>
#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace cli_test {

namespace {

using namespace profiler;
using namespace profiler::container;

/// Numbers texts like a run does, and writes each of them once.
class StringTable {
public:
    std::uint32_t id(std::string_view text)
    {
        const auto [entry, isNew] = m_ids.try_emplace(std::string(text), static_cast<std::uint32_t>(m_ids.size() + 1));
        if (isNew)
            appendString(m_payload, entry->second, text);
        return entry->second;
    }
    [[nodiscard]] const Payload& payload() const { return m_payload; }

private:
    std::map<std::string, std::uint32_t> m_ids;
    Payload m_payload;
};

void appendSlice(const Trace& trace, const Slice& slice, StringTable& strings, std::vector<EventRecord>& records)
{
    EventRecord event{};
    event.type = isDeviceWork(slice.kind)      ? EventType::Device
                 : slice.is(slice_flag::kOpen) ? EventType::Begin
                                               : EventType::Slice;
    event.kind = slice.kind;
    event.depth = slice.depth;
    event.flags = slice.flags;
    event.name = strings.id(trace.name(slice));
    event.begin = toNs(slice.begin);
    event.end = event.type == EventType::Begin ? 0 : toNs(slice.end());
    event.link = slice.kind == ActivityKind::CpuOp ? slice.sequence
                 : slice.correlation.value != 0    ? static_cast<std::int64_t>(slice.correlation.value)
                                                   : slice.args.value;
    event.bytes = static_cast<std::uint32_t>(slice.args.bytes);
    records.push_back(event);
    if (event.type != EventType::Device)
        return;
    ExtraRecord extra{};
    extra.type = EventType::Extra;
    extra.copy = slice.args.copy;
    extra.src = slice.args.src;
    extra.dst = slice.args.dst;
    extra.bytes = static_cast<std::uint64_t>(slice.args.bytes);
    records.push_back(std::bit_cast<EventRecord>(extra));
}

} // namespace

void writeTrace(const std::filesystem::path& path, const Trace& trace)
{
    StringTable strings;
    Payload tracks, events, metadata;
    for (const Track& track : trace.tracks()) {
        appendTrack(tracks, {.track = track.id.value,
                             .kind = static_cast<std::uint32_t>(track.kind),
                             .name = strings.id(track.name),
                             .unit = strings.id(track.unit),
                             .pid = track.pid,
                             .tid = track.tid,
                             .device = track.device.value,
                             .stream = track.stream.value});
        std::vector<EventRecord> records;
        for (const Slice& slice : trace.sorted(track.id))
            appendSlice(trace, slice, strings, records);
        appendEvents(events, {.track = track.id.value, .count = 0, .firstIndex = kNotFromRing}, records);
    }
    for (const auto& [key, value] : trace.metadata()) {
        const std::uint32_t keyId = strings.id(key);
        appendMetadata(metadata, keyId, strings.id(value));
    }
    std::vector<Payload> devices;
    for (const Device& device : trace.devices()) {
        const std::uint32_t name = strings.id(device.name);
        appendDevice(devices.emplace_back(),
                     {.device = device.id.value, .name = name, .uuid = strings.id(device.uuid), .reserved = 0});
    }
    auto writer = FrameWriter::create(path, 1);
    ASSERT_TRUE(writer) << writer.error().message();
    const auto write = [&](FrameType type, const Payload& payload) { ASSERT_TRUE((*writer)->write(type, payload)); };
    write(FrameType::Strings, strings.payload());
    write(FrameType::Tracks, tracks);
    for (const Payload& device : devices)
        write(FrameType::Device, device);
    write(FrameType::Metadata, metadata);
    write(FrameType::Events, events);
    write(FrameType::End, {});
}

} // namespace cli_test
