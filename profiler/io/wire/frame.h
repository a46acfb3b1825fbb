#pragma once

#include "profiler/io/wire/records.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The bytes of frames, as the writer makes them and the reader checks them. Little-endian hosts only, as the format
/// is.
namespace profiler::wire {

/// Bytes of a payload in the making; clear() keeps its memory for the next frame.
using Payload = std::vector<std::byte>;

/// Writers keep payloads below this, so that a damaged length cannot have a reader wait for, or take, gigabytes.
inline constexpr std::uint32_t kMaxPayloadBytes = 16U << 20;

/// XXH3 of the header's magic, type, payloadBytes and sequence, then of the payload. Allocates nothing.
std::uint64_t frameChecksum(const FrameHeader& header, std::span<const std::byte> payload);
/// The header that goes before `payload`, with its checksum. `payload` is at most kMaxPayloadBytes.
FrameHeader makeFrameHeader(FrameType type, std::uint32_t sequence, std::span<const std::byte> payload);
/// The first bytes of a trace file of this version.
FileHeader makeFileHeader(std::int64_t pid, std::uint64_t runId);

/// Appends header and payload to `file`.
void appendFrame(Payload& file, FrameType type, std::uint32_t sequence, std::span<const std::byte> payload);

/// Payload of FrameType::Clock.
void appendClock(Payload& payload, const ClockTriple& clock);
/// One entry of FrameType::Strings: id, length, text, zeros up to a multiple of 4.
void appendString(Payload& payload, std::uint32_t id, std::string_view text);
/// One entry of FrameType::Tracks.
void appendTrack(Payload& payload, const TrackEntry& track);
/// One batch of FrameType::Events, as version 1 wrote them; a frame may hold several. `batch.count` is set from
/// `records`.
void appendEvents(Payload& payload, EventBatch batch, std::span<const EventRecord> records);
/// Payload of FrameType::Device.
void appendDevice(Payload& payload, const DeviceEntry& device, const DeviceFacts& facts = {});
/// One pair of FrameType::Metadata.
void appendMetadata(Payload& payload, std::uint32_t keyString, std::uint32_t valueString);
/// Payload of FrameType::Process.
void appendProcess(Payload& payload, const ProcessEntry& process);
/// Payload of FrameType::Loss.
void appendLoss(Payload& payload, const LossEntry& loss);

} // namespace profiler::wire
