#pragma once

#include "profiler/io/wire/frame.h"
#include "profiler/io/wire/records.h"

#include <cstddef>
#include <span>
#include <vector>

namespace profiler::wire {

/// Appends one batch of FrameType::PackedEvents: a PackedBatch and the records, each in 6 to 30 bytes (an operator
/// about 12, a kernel with its extra slot about 28). Every field comes back as it was, but the end of a Begin and of a
/// Counter, which have none, and what is reserved.
/// @param first, second  the records, in two parts as a ring has them; kMaxPackedRecords at most, so that the frame
///                       stays below kMaxPayloadBytes
void appendPackedEvents(Payload& payload, EventBatch batch, std::span<const EventRecord> first,
                        std::span<const EventRecord> second = {});
/// Upper bound for a frame of one batch: no record takes more than 64 bytes.
inline constexpr std::size_t kMaxPackedRecords = (kMaxPayloadBytes - sizeof(PackedBatch)) / 64;

/// Takes one batch off the front of a payload.
/// @param records  replaced; what was read before a fault stays
/// @return false when the bytes are no batch: too few, or a record that cannot be
bool takePackedEvents(std::span<const std::byte>& payload, EventBatch& batch, std::vector<EventRecord>& records);

} // namespace profiler::wire
