#include "profiler/formats/container/frame.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>

#define XXH_INLINE_ALL // header-only, because the injection library must not have dependencies
#include <xxhash.h>

namespace profiler::wire {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::size_t kStringAlignment = 4;

template <class T>
void appendRaw(Payload& out, const T* values, std::size_t count)
{
    const auto bytes = std::as_bytes(std::span{values, count});
    out.insert(out.end(), bytes.begin(), bytes.end());
}

} // namespace

std::uint64_t frameChecksum(const FrameHeader& header, std::span<const std::byte> payload)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, &header, offsetof(FrameHeader, checksum));
    XXH3_64bits_update(&state, payload.data(), payload.size());
    return XXH3_64bits_digest(&state);
}

FrameHeader makeFrameHeader(FrameType type, std::uint32_t sequence, std::span<const std::byte> payload)
{
    FrameHeader header{};
    header.magic = kFrameMagic;
    header.type = type;
    header.payloadBytes = static_cast<std::uint32_t>(payload.size());
    header.sequence = sequence;
    header.checksum = frameChecksum(header, payload);
    return header;
}

FileHeader makeFileHeader(std::int64_t pid, std::uint64_t runId)
{
    FileHeader header{};
    std::copy(std::begin(kFileMagic), std::end(kFileMagic), header.magic);
    header.version = kVersion;
    header.headerBytes = sizeof(FileHeader);
    header.pid = pid;
    header.runId = runId;
    return header;
}

void appendFrame(Payload& file, FrameType type, std::uint32_t sequence, std::span<const std::byte> payload)
{
    const FrameHeader header = makeFrameHeader(type, sequence, payload);
    appendRaw(file, &header, 1);
    file.insert(file.end(), payload.begin(), payload.end());
}

void appendClock(Payload& payload, const ClockTriple& clock)
{
    appendRaw(payload, &clock, 1);
}

void appendString(Payload& payload, std::uint32_t id, std::string_view text)
{
    const StringEntry entry{id, static_cast<std::uint32_t>(text.size())};
    appendRaw(payload, &entry, 1);
    appendRaw(payload, text.data(), text.size());
    payload.resize((payload.size() + kStringAlignment - 1) / kStringAlignment * kStringAlignment);
}

void appendTrack(Payload& payload, const TrackEntry& track)
{
    appendRaw(payload, &track, 1);
}

void appendEvents(Payload& payload, EventBatch batch, std::span<const EventRecord> records)
{
    batch.count = static_cast<std::uint32_t>(records.size());
    appendRaw(payload, &batch, 1);
    appendRaw(payload, records.data(), records.size());
}

void appendDevice(Payload& payload, const DeviceEntry& device, const DeviceFacts& facts, const DeviceLimits& limits)
{
    appendRaw(payload, &device, 1);
    appendRaw(payload, &facts, 1);
    appendRaw(payload, &limits, 1);
}

void appendMetadata(Payload& payload, std::uint32_t keyString, std::uint32_t valueString)
{
    const std::uint32_t pair[] = {keyString, valueString};
    appendRaw(payload, pair, std::size(pair));
}

void appendProcess(Payload& payload, const ProcessEntry& process)
{
    appendRaw(payload, &process, 1);
}

void appendLoss(Payload& payload, const LossEntry& loss)
{
    appendRaw(payload, &loss, 1);
}

} // namespace profiler::wire
