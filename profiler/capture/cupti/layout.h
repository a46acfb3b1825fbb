#pragma once

#include "profiler/capture/cupti/api.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace profiler::capture {

/// Size of the largest record. A shorter record of an older CUPTI, extended to our layout, fits too.
inline constexpr std::size_t kLargestCuptiRecord = 256;
using CuptiRecordSpace = std::array<std::byte, kLargestCuptiRecord>;

/// Up to 12.9, versions were consecutive numbers; from 13.0 on, they are 130000 and above.
inline constexpr std::uint32_t kCuptiVersion13 = 130'000;

/// Size of a record of this kind in the headers we were built with; 0 for kinds that are not decoded.
std::size_t cuptiRecordSize(CUpti_ActivityKind kind);

/// The record with all the fields of our headers. A library of version 12 writes shorter records, whose fields are a
/// prefix of ours; the missing fields are zero.
/// @param bytes    from the record to the next one, or to the end of the buffer
/// @param version  of the library, as returned by cuptiGetVersion
/// @param space    holds the record if it must be extended
/// @return null if there are too few bytes for any version of the record
const CUpti_Activity* wholeCuptiRecord(const CUpti_Activity& record, std::size_t bytes, std::uint32_t version,
                                       CuptiRecordSpace& space);

} // namespace profiler::capture
