#pragma once

#include "profiler/model/activity.h"

#include <cstdint>

/// The layout of our own trace file (`*.sstrace`) and of the ring file beside it (`*.sstrace.ring`), little endian.
///
/// Trace file: FileHeader, then frames, each a FrameHeader and `payloadBytes` bytes. Append-only: a reader takes every
/// frame whose checksum holds and stops at the first that does not. The last frame of a run that ended well is `End`.
/// Ring file: host events that the writer thread has not yet put into frames, in shared memory (MAP_SHARED), so that
/// they outlive a killed process. It is removed when the run ends well.
namespace profiler::wire {

inline constexpr char kFileMagic[8] = {'S', 'S', 'T', 'R', 'A', 'C', 'E', '\n'};
/// 1: FrameType up to End. 2: PackedEvents and Process too; a reader of 2 reads 1.
inline constexpr std::uint32_t kVersion = 2;

struct FileHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t headerBytes; ///< sizeof(FileHeader): later versions may be longer
    std::int64_t pid;
    std::uint64_t runId; ///< the same in the ring file; else the ring file is another run's
};
static_assert(sizeof(FileHeader) == 32);

enum class FrameType : std::uint32_t {
    Clock = 1, ///< one ClockTriple
    Strings,   ///< StringEntry + bytes, padded to 4, repeated
    Tracks, ///< TrackEntry, repeated; names are string ids. An entry of a known track gives it a new name, kind or tid
    Events, ///< EventBatch, then EventRecord, repeated
    Device, ///< DeviceEntry; since version 2 DeviceFacts behind it
    Metadata,     ///< pairs of string ids: key, value
    Loss,         ///< LossEntry: what was dropped so far (totals, the last one counts)
    End,          ///< no payload: the run ended well
    PackedEvents, ///< PackedBatch and its records (packed_events.h), repeated: what writers of version 2 write for
                  ///< Events
    Process,      ///< ProcessEntry: the name of a process
};

struct FrameHeader {
    std::uint32_t magic; ///< kFrameMagic
    FrameType type;
    std::uint32_t payloadBytes;
    std::uint32_t sequence; ///< 0, 1, 2…: a gap is a loss
    std::uint64_t checksum; ///< XXH3 of the three fields before it and the payload
};
inline constexpr std::uint32_t kFrameMagic = 0x4d465353; // "SSFM"
static_assert(sizeof(FrameHeader) == 24);

struct ClockTriple {
    std::int64_t monotonicNs, realtimeNs;
    std::uint64_t tsc;
};

struct StringEntry {
    std::uint32_t id, bytes;
};

struct TrackEntry {
    std::uint32_t track;      ///< number given by the writer: 0, 1, 2…
    std::uint32_t kind;       ///< profiler::TrackKind
    std::uint32_t name, unit; ///< string ids
    std::int64_t pid, tid;
    std::uint32_t device, stream;
};

struct DeviceEntry {
    std::uint32_t device, name, uuid, reserved;
};

struct DeviceFacts {
    std::int64_t memoryBytes; ///< 0: not known
    std::int32_t computeMajor, computeMinor;
};
static_assert(sizeof(DeviceFacts) == 16);

struct ProcessEntry {
    std::int64_t pid;
    std::uint32_t name, reserved; ///< string id: "python train.py"
};
static_assert(sizeof(ProcessEntry) == 16);

struct LossEntry {
    std::uint64_t dropped, unmatched;
};

enum class EventType : std::uint8_t {
    Slice,   ///< a whole slice: begin and end
    Begin,   ///< begun, not ended; the Slice with the same track, name and begin ends it
    Counter, ///< a sample, in a thread's batch: `name` is the counter's track, `begin` the time, `link` the bits of a
             ///< double
    Device,  ///< a whole slice of device work: an ExtraRecord follows in the next record slot
    Extra,   ///< the slot after Device
    Flow,    ///< an arrow from what holds `begin` on the batch's track to what holds `end` on the track with the number
             ///< `name`
};

/// One event, 40 bytes, as the ring has it; packed in the file (in files of version 1 as it is).
struct EventRecord {
    EventType type;
    ActivityKind kind;
    std::uint8_t depth; ///< nesting on its track
    std::uint8_t flags; ///< profiler::slice_flag
    std::uint32_t name; ///< string id
    std::int64_t begin; ///< ns, CLOCK_MONOTONIC
    std::int64_t end;   ///< ns; Begin: 0
    std::int64_t link;  ///< CpuOp: autograd sequence number; runtime and device: correlation id; Step, Phase,
                        ///< LoaderStage: args.value
    std::uint32_t
        bytes; ///< args.bytes, saturated (device work: see ExtraRecord); CpuOp: string id of the inputs' types, 0:
               ///< none; runtime and driver calls: the program's own number (external correlation), 0: none
    std::uint32_t detail; ///< string id, 0: none. CpuOp: shapes of the inputs; Nvtx: category, colour, payload
};
static_assert(sizeof(EventRecord) == 40);

/// What an EventRecord of type Device has no room for; takes the next slot.
struct ExtraRecord {
    EventType type; ///< Extra
    CopyKind copy;
    MemoryKind src, dst;
    std::uint32_t reserved;
    std::uint64_t bytes;
    std::uint32_t grid[3], block[3]; ///< kernels; else 0
};
static_assert(sizeof(ExtraRecord) == sizeof(EventRecord));

/// Events of one track follow. `depth` 255: the nesting is found from the intervals.
struct EventBatch {
    std::uint32_t track, count;
    /// Running index of the first record among those of its track that passed a ring, from 0. A killed run may leave
    /// records both here and in the ring file: those with an index below the largest `firstIndex + count` of the track
    /// are here already. kNotFromRing: device work and runtime calls, which pass no ring.
    std::uint64_t firstIndex;
};
/// Head of a batch of PackedEvents; `bytes` of records follow.
struct PackedBatch {
    std::uint32_t track, count;
    std::uint64_t firstIndex; ///< as in EventBatch
    std::int64_t begin;       ///< of the first record: times are differences to the record before
    std::uint32_t bytes, reserved;
};
static_assert(sizeof(PackedBatch) == 32);
inline constexpr std::uint64_t kNotFromRing = ~std::uint64_t{0};
static_assert(sizeof(EventBatch) == 16);

} // namespace profiler::wire
