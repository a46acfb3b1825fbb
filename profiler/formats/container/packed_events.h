#pragma once

#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/records.h"

#include <cstddef>
#include <span>
#include <vector>

namespace profiler::wire {

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

} // namespace profiler::wire
