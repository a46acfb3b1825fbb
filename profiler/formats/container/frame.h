#pragma once

#include "profiler/formats/container/records.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Encoding of frames, used by the writer and checked by the reader. The format is little-endian; only little-endian
/// hosts are supported.
namespace profiler::container {

/// The bytes of a payload under construction. clear() keeps its memory for the next frame.
using Payload = std::vector<std::byte>;

/// Maximum payload size of a live frame, so that a reader of a damaged length neither waits for nor allocates
/// gigabytes.
inline constexpr std::uint32_t kMaxPayloadBytes = 16U << 20;

/// XXH3 of the header's magic, type, payloadBytes and sequence, then of the payload. Does not allocate.
std::uint64_t frameChecksum(const FrameHeader& header, std::span<const std::byte> payload);
/// The header for `payload`, with its checksum. `payload` has at most kMaxPayloadBytes, or is that of a block.
FrameHeader makeFrameHeader(FrameType type, std::uint32_t sequence, std::span<const std::byte> payload);
/// XXH3 of some bytes. Does not allocate.
std::uint64_t checksumOf(std::span<const std::byte> bytes);
/// The checksum that belongs into the header of a sealed file.
std::uint64_t headerChecksum(const FileHeader& header);
/// The file header of this format version, of a live file.
FileHeader makeFileHeader(std::int64_t pid, std::uint64_t runId);

/// Appends header and payload to `file`.
void appendFrame(Payload& file, FrameType type, std::uint32_t sequence, std::span<const std::byte> payload);

/// Payload of FrameType::Clock.
void appendClock(Payload& payload, const ClockTriple& clock);
/// One entry of FrameType::Strings: id, length, text, zero padding to a multiple of 4.
void appendString(Payload& payload, std::uint32_t id, std::string_view text);
/// One entry of FrameType::Tracks.
void appendTrack(Payload& payload, const TrackEntry& track);
/// One batch of FrameType::Events, the format of version 1. A frame may contain several batches. `batch.count` is set
/// from `records`.
void appendEvents(Payload& payload, EventBatch batch, std::span<const EventRecord> records);
/// Payload of FrameType::Device.
void appendDevice(Payload& payload, const DeviceEntry& device, const DeviceFacts& facts = {},
                  const DeviceLimits& limits = {});
/// One pair of FrameType::Metadata.
void appendMetadata(Payload& payload, std::uint32_t keyString, std::uint32_t valueString);
/// Payload of FrameType::Process.
void appendProcess(Payload& payload, const ProcessEntry& process);
/// Payload of FrameType::Loss.
void appendLoss(Payload& payload, const LossEntry& loss);

/// Appends one batch of FrameType::PackedEvents: a PackedBatch and the records, each in 6 to 30 bytes (about 12 for an
/// operator, about 20 for a kernel with its launch). All fields are preserved, except reserved ones and the end of
/// Begin and Counter records, which have no end.
/// @param first, second  the records, in two parts as in a ring; at most kMaxPackedRecords, so that the frame stays
///                       below kMaxPayloadBytes
void appendPackedEvents(Payload& payload, EventBatch batch, std::span<const EventRecord> first,
                        std::span<const EventRecord> second = {});
/// Maximum number of records in a batch that fits in one frame: a record takes at most 64 bytes.
inline constexpr std::size_t kMaxPackedRecords = (kMaxPayloadBytes - sizeof(PackedBatch)) / 64;

/// Removes one batch from the front of a payload.
/// @param records  replaced; records before a fault are kept
/// @return false if the bytes are not a batch: too few bytes or an invalid record
bool takePackedEvents(std::span<const std::byte>& payload, EventBatch& batch, std::vector<EventRecord>& records);

} // namespace profiler::container
