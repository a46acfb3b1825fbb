#pragma once

#include "profiler/model/activity.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The layout of Stepscope's trace file (`*.sstrace`) and the encoding of its frames. The format is little-endian; only
/// little-endian hosts are supported. A file is a FileHeader, then frames. Each frame is a FrameHeader and
/// `payloadBytes` bytes, with its own checksum. A file has one of two states:
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
    PackedEvents, ///< PackedBatch and its records (appendPackedEvents()), repeated: replaces Events since version 2
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

/// True for the second slot of a device record, which has neither a name nor times.
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
