#pragma once

#include "profiler/capture/cupti_api.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace profiler::capture {

/// The largest record there is: a view of a shorter one of an older CUPTI fits.
inline constexpr std::size_t kLargestCuptiRecord = 256;
using CuptiRecordSpace = std::array<std::byte, kLargestCuptiRecord>;

/// Until 12.9 the version counted up; from 13.0 on it is 130000 and more.
inline constexpr std::uint32_t kCuptiVersion13 = 130'000;

/// Bytes of a record of the kind as the headers we were built with lay it out; 0 for kinds that are not decoded.
std::size_t cuptiRecordSize(CUpti_ActivityKind kind);

/// The record with all the fields of our headers. A library of version 12 writes shorter ones, whose fields are the
/// first of ours: what it has not is zero.
/// @param bytes    from the record to the next one, or to the end of the buffer
/// @param version  of the library, as cuptiGetVersion has it
/// @param space    holds the record where it must be made longer
/// @return null when there are too few bytes for any version of the record
const CUpti_Activity* wholeCuptiRecord(const CUpti_Activity& record, std::size_t bytes, std::uint32_t version,
                                       CuptiRecordSpace& space);

} // namespace profiler::capture
