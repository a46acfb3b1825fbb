#pragma once

#include "profiler/model/activity.h"

#include <cstdint>

/// The layout of Stepscope's trace file (`*.sstrace`), little-endian: a FileHeader, then frames. Each frame is a
/// FrameHeader and `payloadBytes` bytes, with its own checksum. A file has one of two states:
///
/// Live: the recording process appends frames of the types Clock to Process as events happen. Readers accept every
/// frame with a correct checksum and skip damaged bytes between frames. The last frame of a run that ended properly is
/// `End`. The ring file next to it (`*.sstrace.ring`, ring_file.h) holds the events that are not yet in a frame.
///
/// Sealed: the frames are blocks, of the types Meta to Samples, which are compressed and can be read on demand
/// (block_file.h). The header has the position of their overview.
///
/// fields.h lists the fields of both. Files of earlier versions can be read: live ones have a shorter header, and
/// sealed ones (`*.sspack`) another header and envelope, see block_file.cpp.
namespace profiler::container {

inline constexpr char kFileMagic[8] = {'S', 'S', 'T', 'R', 'A', 'C', 'E', '\n'};
/// Live files had the versions 1 (frame types up to End), 2 (adds PackedEvents and Process) and 3 (adds LaunchRecord
/// and DeviceLimits). Sealed files had the versions 1 to 6 of their own format. Since version 7 both are one format.
inline constexpr std::uint32_t kVersion = 7;

struct FileHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t headerBytes; ///< position of the first frame; later versions may have longer headers
    std::int64_t pid;          ///< of the recording process; 0 in a sealed file
    std::uint64_t runId;       ///< equal in the ring file, unless that belongs to another run
    // Since version 7:
    std::uint64_t overviewOffset; ///< of the Overview block; 0: the file is not sealed
    std::uint64_t fileBytes;      ///< of a sealed file
    std::uint64_t checksum;       ///< XXH3 of the fields above
};
static_assert(sizeof(FileHeader) == 56);
/// The header of live files up to version 3 ends here.
inline constexpr std::uint32_t kFirstHeaderBytes = 32;

enum class FrameType : std::uint32_t {
    Clock = 1,    ///< one ClockTriple
    Strings,      ///< StringEntry + bytes, padded to 4, repeated
    Tracks,       ///< TrackEntry, repeated; names are string ids. A later entry of a track replaces name, kind and tid
    Events,       ///< EventBatch, then EventRecord, repeated
    Device,       ///< DeviceEntry; since version 2 followed by DeviceFacts, since version 3 also by DeviceLimits
    Metadata,     ///< pairs of string ids: key, value
    Loss,         ///< LossEntry: total losses so far; the last entry is valid
    End,          ///< no payload: the run ended properly
    PackedEvents, ///< PackedBatch and its records (frame.h), repeated: replaces Events since version 2
    Process,      ///< ProcessEntry: the name of a process
    // Blocks of a sealed file; the payload is a zstd frame:
    Meta = 32,    ///< tracks, strings, arguments, counters, losses
    Slices,       ///< up to 65,536 slices of a track
    Overview,     ///< position and summary of each Slices block
    Details,      ///< details of up to 4,096 slices from the original file
    DetailsIndex, ///< positions of the Details blocks
    Samples,      ///< 65,536 samples of a counter that has more than that
};

/// The envelope of a frame.
struct FrameHeader {
    std::uint32_t magic; ///< kFrameMagic
    FrameType type;
    std::uint32_t payloadBytes;
    std::uint32_t sequence; ///< live: 0, 1, 2…; a gap means lost frames. 0 for blocks
    std::uint64_t checksum; ///< XXH3 of the other fields and the payload
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
    std::uint32_t track;      ///< number assigned by the writer: 0, 1, 2…
    std::uint32_t kind;       ///< profiler::TrackKind
    std::uint32_t name, unit; ///< string ids
    std::int64_t pid, tid;
    std::uint32_t device, stream;
};

struct DeviceEntry {
    std::uint32_t device, name, uuid, reserved;
};

struct DeviceFacts {
    std::int64_t memoryBytes; ///< 0: unknown
    std::int32_t computeMajor, computeMinor;
};
static_assert(sizeof(DeviceFacts) == 16);

/// The number of multiprocessors and what each of them can hold; 0: unknown.
struct DeviceLimits {
    std::int32_t multiprocessors, threads, blocks, registers, sharedMemory;
};
static_assert(sizeof(DeviceLimits) == 20);

struct ProcessEntry {
    std::int64_t pid;
    std::uint32_t name, reserved; ///< string id: "python train.py"
};
static_assert(sizeof(ProcessEntry) == 16);

struct LossEntry {
    std::uint64_t dropped, unmatched;
};

enum class EventType : std::uint8_t {
    Slice,   ///< a complete slice: begin and end
    Begin,   ///< an open slice; a Slice with the same track, name and begin completes it
    Counter, ///< a sample in a thread's batch: `name` is the counter's track, `begin` the time, `link` the value as the
             ///< bits of a double
    Device,  ///< a complete slice of device work; the next record slot holds its ExtraRecord or LaunchRecord
    Extra,   ///< the slot after Device
    Flow,    ///< an arrow from the slice at `begin` on the batch's track to the slice at `end` on track number `name`
    Launch,  ///< the slot after the Device record of a kernel, since version 3
};

/// True for the second slot of a device record, which has no name and no times of its own.
constexpr bool isSecondSlot(EventType type)
{
    return type == EventType::Extra || type == EventType::Launch;
}

/// One event, 40 bytes. The ring file and trace files of version 1 contain it as it is; later files pack it.
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
        bytes; ///< args.bytes, saturated (device work: see ExtraRecord); CpuOp: string id of the input types,
               ///< 0: none; runtime and driver calls in older files: external correlation id set by the program
    std::uint32_t detail; ///< string id, 0: none. CpuOp: input shapes; Nvtx: category, colour, payload
};
static_assert(sizeof(EventRecord) == 40);

/// Additional fields of an EventRecord of type Device; occupies the next slot.
struct ExtraRecord {
    EventType type; ///< Extra
    CopyKind copy;
    MemoryKind src, dst;
    std::uint32_t reserved;
    std::uint64_t bytes;
    std::uint32_t grid[3], block[3]; ///< kernels in files up to version 2, otherwise 0
};
static_assert(sizeof(ExtraRecord) == sizeof(EventRecord));

/// How a kernel was launched; occupies the slot after its EventRecord.
struct LaunchRecord {
    EventType type; ///< Launch
    std::uint8_t reserved;
    std::uint16_t registers; ///< per thread; 0: unknown
    std::uint32_t grid[3], block[3];
    std::uint32_t staticSharedMemory, dynamicSharedMemory; ///< bytes per block
    std::uint32_t localMemory;                             ///< bytes per thread
};
static_assert(sizeof(LaunchRecord) == sizeof(EventRecord));

/// Header of a batch of events of one track. If `depth` is 255, nesting is derived from the intervals.
struct EventBatch {
    std::uint32_t track, count;
    /// Running index of the first record, counting the track's records that went through a ring, from 0. A killed run
    /// may leave records both here and in the ring file: records with an index below the track's largest
    /// `firstIndex + count` are duplicates. kNotFromRing: device work and runtime calls, which do not use a ring.
    std::uint64_t firstIndex;
};
/// Header of a batch of PackedEvents; `bytes` bytes of records follow.
struct PackedBatch {
    std::uint32_t track, count;
    std::uint64_t firstIndex; ///< as in EventBatch
    std::int64_t begin;       ///< of the first record; other times are relative to the previous record
    std::uint32_t bytes, reserved;
};
static_assert(sizeof(PackedBatch) == 32);
inline constexpr std::uint64_t kNotFromRing = ~std::uint64_t{0};
static_assert(sizeof(EventBatch) == 16);

} // namespace profiler::container
