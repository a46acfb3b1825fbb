#pragma once

#include <cstdint>

/// Field numbers of the Perfetto messages that we write. Source: protos/perfetto/trace in Perfetto's repository.
namespace profiler::formats::writers::perfetto {

inline constexpr std::uint32_t kTracePacket = 1; // of Trace

namespace packet {
inline constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kSequenceFlags = 13,
                               kTrackDescriptor = 60;
inline constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2; // of kSequenceFlags
} // namespace packet

namespace track_descriptor {
inline constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8,
                               kChildOrdering = 11, kRank = 12;
inline constexpr std::uint32_t kPid = 1, kTid = 2, kSortIndex = 3, kThreadName = 5,
                               kProcessName = 6;             // of kProcess and kThread
inline constexpr std::uint32_t kUnit = 3, kUnitName = 6;     // of kCounter
inline constexpr std::uint64_t kExplicit = 3;                // of kChildOrdering
inline constexpr std::uint64_t kUnspecified = 0, kBytes = 3; // of kUnit
} // namespace track_descriptor

namespace track_event {
inline constexpr std::uint32_t kCategory = 3, kAnnotation = 4, kType = 9, kName = 10, kTrack = 11, kCounterValue = 44,
                               kFlow = 47, kEndingFlow = 48;
inline constexpr std::uint64_t kBegin = 1, kEnd = 2, kCounter = 4;            // of kType
inline constexpr std::uint32_t kAnnotationName = 10, kInteger = 4, kText = 6; // of kAnnotation
} // namespace track_event

namespace interned {
inline constexpr std::uint32_t kCategories = 1, kNames = 2;
inline constexpr std::uint32_t kId = 1, kText = 2; // of either
} // namespace interned

} // namespace profiler::formats::writers::perfetto
