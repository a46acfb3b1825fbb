#include "profiler/formats/container/fields.h"

#include <fmt/format.h>
#include <iterator>

namespace profiler::container {

namespace {

/// A member of a struct that is stored as it is, in the frames of live files.
struct Member : FieldInfo {
    std::string_view type;
    std::size_t bytes;
};

template <class Record, class T>
constexpr std::size_t sizeOfMember(T Record::*)
{
    return sizeof(T);
}
template <class Record, class T>
constexpr std::string_view typeOfMember(T Record::*)
{
    return detail::typeName<T>();
}

template <auto M>
constexpr Member member(const FieldInfo& info)
{
    return {info, typeOfMember(M), sizeOfMember(M)};
}

/// Whether the members make up the whole of these structs, which follow each other in the file.
template <class... Records, std::size_t N>
constexpr bool areAllOf(const std::array<Member, N>& members)
{
    std::size_t bytes = 0;
    for (const Member& member : members)
        bytes += member.bytes;
    return bytes == (sizeof(Records) + ...);
}

constexpr std::array kFileHeader{
    member<&FileHeader::magic>({"magic", "\"SSTRACE\\n\""}),
    member<&FileHeader::version>({"version", "of the format"}),
    member<&FileHeader::headerBytes>({"header_bytes", "position of the first frame"}),
    member<&FileHeader::pid>({"pid", "of the recording process; 0 in a sealed file"}),
    member<&FileHeader::runId>({"run_id", "equal in the ring file that belongs to the recording"}),
    member<&FileHeader::overviewOffset>({"overview_offset", "position of the Overview block", 7}),
    member<&FileHeader::fileBytes>({"file_bytes", "size of a sealed file; 0: the file is live", 7}),
    member<&FileHeader::checksum>({"checksum", "of a sealed file: XXH3 of the fields above", 7}),
};
static_assert(areAllOf<FileHeader>(kFileHeader));

constexpr std::array kFrameHeader{
    member<&FrameHeader::magic>({"magic", "\"SSFM\""}),
    member<&FrameHeader::type>({"type", "see below"}),
    member<&FrameHeader::payloadBytes>({"payload_bytes", "size of the payload, which follows"}),
    member<&FrameHeader::sequence>({"sequence", "0, 1, 2… in a live file; a gap means lost frames. 0 for blocks"}),
    member<&FrameHeader::checksum>({"checksum", "XXH3 of the fields above and the payload"}),
};
static_assert(areAllOf<FrameHeader>(kFrameHeader));

constexpr std::array kClock{
    member<&ClockTriple::monotonicNs>({"monotonic", "ns, CLOCK_MONOTONIC"}),
    member<&ClockTriple::realtimeNs>({"realtime", "ns, CLOCK_REALTIME at the same time"}),
    member<&ClockTriple::tsc>({"tsc", "time stamp counter at the same time"}),
};
static_assert(areAllOf<ClockTriple>(kClock));

constexpr std::array kString{
    member<&StringEntry::id>({"id", "assigned by the writer; 0 is \"\""}),
    member<&StringEntry::bytes>({"bytes", "length of the text, which follows, padded to a multiple of 4"}),
};
static_assert(areAllOf<StringEntry>(kString));

constexpr std::array kTrackEntry{
    member<&TrackEntry::track>({"track", "assigned by the writer: 0, 1, 2…"}),
    member<&TrackEntry::kind>({"kind", "as in the Meta block"}),
    member<&TrackEntry::name>({"name", "string"}),
    member<&TrackEntry::unit>({"unit", "string: of a counter's values"}),
    member<&TrackEntry::pid>({"pid", "process id"}),
    member<&TrackEntry::tid>({"tid", "system thread id"}),
    member<&TrackEntry::device>({"device", "CUDA device ordinal"}),
    member<&TrackEntry::stream>({"stream", "CUDA stream number"}),
};
static_assert(areAllOf<TrackEntry>(kTrackEntry));

constexpr std::array kDeviceEntry{
    member<&DeviceEntry::device>({"device", "CUDA device ordinal"}),
    member<&DeviceEntry::name>({"name", "string"}),
    member<&DeviceEntry::uuid>({"uuid", "string"}),
    member<&DeviceEntry::reserved>({"reserved", "0"}),
    member<&DeviceFacts::memoryBytes>({"memory_bytes", "size of the memory; 0: unknown", 2}),
    member<&DeviceFacts::computeMajor>({"compute_major", "compute capability; 0: unknown", 2}),
    member<&DeviceFacts::computeMinor>({"compute_minor", "compute capability", 2}),
    member<&DeviceLimits::multiprocessors>({"multiprocessors", "their number; 0: unknown", 3}),
    member<&DeviceLimits::threads>({"threads", "per multiprocessor; 0: unknown", 3}),
    member<&DeviceLimits::blocks>({"blocks", "per multiprocessor; 0: unknown", 3}),
    member<&DeviceLimits::registers>({"registers", "per multiprocessor; 0: unknown", 3}),
    member<&DeviceLimits::sharedMemory>({"shared_memory", "bytes per multiprocessor; 0: unknown", 3}),
};
static_assert(areAllOf<DeviceEntry, DeviceFacts, DeviceLimits>(kDeviceEntry));

constexpr std::array kProcess{
    member<&ProcessEntry::pid>({"pid", "process id", 2}),
    member<&ProcessEntry::name>({"name", "string: \"python train.py\"", 2}),
    member<&ProcessEntry::reserved>({"reserved", "0", 2}),
};
static_assert(areAllOf<ProcessEntry>(kProcess));

constexpr std::array kLoss{
    member<&LossEntry::dropped>({"dropped", "events without room in the capture buffers so far"}),
    member<&LossEntry::unmatched>({"unmatched", "ends without a start so far"}),
};
static_assert(areAllOf<LossEntry>(kLoss));

constexpr std::array kPackedBatch{
    member<&PackedBatch::track>({"track", "of all records of the batch", 2}),
    member<&PackedBatch::count>({"count", "of records", 2}),
    member<&PackedBatch::firstIndex>(
        {"first_index", "running index of the first record on its track; all bits: none", 2}),
    member<&PackedBatch::begin>({"begin", "ns: of the first record", 2}),
    member<&PackedBatch::bytes>({"bytes", "of the records, which follow", 2}),
    member<&PackedBatch::reserved>({"reserved", "0", 2}),
};
static_assert(areAllOf<PackedBatch>(kPackedBatch));

constexpr std::array kEventRecord{
    member<&EventRecord::type>({"type", "slice, begin, counter, device, extra, flow, launch"}),
    member<&EventRecord::kind>({"kind", "ActivityKind; packed: if it differs from the previous record's"}),
    member<&EventRecord::depth>({"depth", "nesting on its track; 255: to be derived"}),
    member<&EventRecord::flags>({"flags", "as in the Slices block; packed: if not 0"}),
    member<&EventRecord::name>({"name", "string; of a counter: its track. Packed: varint"}),
    member<&EventRecord::begin>({"begin", "ns, CLOCK_MONOTONIC; packed: difference from the previous record"}),
    member<&EventRecord::end>({"end", "ns; packed: difference from begin, absent for begin and counter"}),
    member<&EventRecord::link>({"link", "sequence number, correlation id, index, or the value of a counter (f64); "
                                        "packed: difference from the previous record"}),
    member<&EventRecord::bytes>({"bytes", "operators: string of the input types; packed: varint if not 0"}),
    member<&EventRecord::detail>({"detail", "string: input sizes of an operator, category and colour of an NVTX range; "
                                            "packed: varint if not 0"}),
};
static_assert(areAllOf<EventRecord>(kEventRecord));

constexpr std::array kExtraRecord{
    member<&ExtraRecord::type>({"type", "extra"}),
    member<&ExtraRecord::copy>({"copy", "as in the Meta block"}),
    member<&ExtraRecord::src>({"src", "memory, as in the Meta block"}),
    member<&ExtraRecord::dst>({"dst", "memory, as in the Meta block"}),
    member<&ExtraRecord::reserved>({"reserved", "0"}),
    member<&ExtraRecord::bytes>({"bytes", "of the copy or memset; packed: varint if not 0"}),
    member<&ExtraRecord::grid>({"grid", "of a kernel, up to version 2; packed: varints if not 0"}),
    member<&ExtraRecord::block>({"block", "of a kernel, up to version 2"}),
};
static_assert(areAllOf<ExtraRecord>(kExtraRecord));

constexpr std::array kLaunchRecord{
    member<&LaunchRecord::type>({"type", "launch", 3}),
    member<&LaunchRecord::reserved>({"reserved", "0", 3}),
    member<&LaunchRecord::registers>({"registers", "per thread; 0: unknown. Packed: varints", 3}),
    member<&LaunchRecord::grid>({"grid", "x, y, z in blocks", 3}),
    member<&LaunchRecord::block>({"block", "x, y, z in threads", 3}),
    member<&LaunchRecord::staticSharedMemory>({"static_shared_memory", "bytes per block", 3}),
    member<&LaunchRecord::dynamicSharedMemory>({"dynamic_shared_memory", "bytes per block", 3}),
    member<&LaunchRecord::localMemory>({"local_memory", "bytes per thread", 3}),
};
static_assert(areAllOf<LaunchRecord>(kLaunchRecord));

std::string_view typeOf(const SliceColumn& column)
{
    return column.coding == Coding::Steps ? "column of differences" : "column";
}
std::string_view typeOf(const auto& field)
{
    return field.type;
}

template <class Table>
void appendTable(std::string& page, std::string_view title, std::string_view text, const Table& fields)
{
    const auto to = std::back_inserter(page);
    fmt::format_to(to, "\n### {}\n\n", title);
    if (!text.empty())
        fmt::format_to(to, "{}\n\n", text);
    page += "| field | type | since | meaning | CSV column |\n|---|---|---|---|---|\n";
    for (const auto& field : fields)
        fmt::format_to(to, "| `{}` | {} | {} | {} | {} |\n", field.name, typeOf(field), field.since, field.doc,
                       field.column.empty() ? std::string() : fmt::format("`{}`", field.column));
}

} // namespace

std::string formatPage()
{
    std::string page = R"(# Stepscope's trace file

This page is generated from `profiler/formats/container/fields.h` and `fields.cpp`; a test compares them.

A trace file (`.sstrace`) is a header followed by frames. Each frame has an envelope with its type, its length and a checksum.
A **live** file grows while a program is recorded; it stays readable if the program is killed. A **sealed** file is complete: its
frames are blocks, which are compressed and can be read on demand. `stepscope-cli convert run.sstrace sealed.sstrace` seals a
recording, also one whose program was killed. All numbers are little-endian. `text` is a u32 with its length, and UTF-8.

Since version 7 live and sealed files have one format. Readers also open live files of the versions 1 to 3, and sealed files
(`.sspack`) of the versions 1 to 6, which have another header and envelope. *Since* is the version of live files for the header,
the envelope and frames, and the version of sealed files for blocks.

## Header and envelope
)";
    appendTable(page, "Header", "", kFileHeader);
    appendTable(page, "Envelope of each frame", "", kFrameHeader);
    page += R"(
## Frames of a live file

The last events of a run, which are not yet in a frame, are in the ring file next to it (`.sstrace.ring`). It is removed when the
run ends properly.
)";
    appendTable(page, fmt::format("{}: Clock", static_cast<int>(FrameType::Clock)), "", kClock);
    appendTable(page, fmt::format("{}: Strings", static_cast<int>(FrameType::Strings)), "Repeated.", kString);
    appendTable(page, fmt::format("{}: Tracks", static_cast<int>(FrameType::Tracks)),
                "Repeated. A later entry of a track replaces name, kind and tid.", kTrackEntry);
    appendTable(page, fmt::format("{}: Device", static_cast<int>(FrameType::Device)), "", kDeviceEntry);
    fmt::format_to(
        std::back_inserter(page),
        "\n### {}: Metadata\n\nPairs of strings (u32): key and value.\n\n### {}: End\n\nThe run ended properly. "
        "It has no payload.\n",
        static_cast<int>(FrameType::Metadata), static_cast<int>(FrameType::End));
    appendTable(page, fmt::format("{}: Loss", static_cast<int>(FrameType::Loss)), "The last one is valid.", kLoss);
    appendTable(page, fmt::format("{}: Process", static_cast<int>(FrameType::Process)), "Repeated.", kProcess);
    appendTable(
        page, fmt::format("{}: PackedEvents", static_cast<int>(FrameType::PackedEvents)),
        "Batches, each followed by its records. A record starts with a byte: its type, and bits for the fields that "
        "are present. A varint has 7 bits in each byte, the lowest first; differences are zigzag-coded. Up to version "
        "1, frames of type 4 contain the records as they are in memory.",
        kPackedBatch);
    appendTable(page, "Event record", "", kEventRecord);
    appendTable(page, "Extra record", "Follows a copy or memset on a device.", kExtraRecord);
    appendTable(page, "Launch record", "Follows a kernel. Packed, a repeated launch is a byte with its slot.",
                kLaunchRecord);
    page += R"(
## Blocks of a sealed file

The payload is a zstd frame that contains the size of its content. A `column` has a number for each row: the smallest number (i64),
the width in bytes (u8), and the differences from the smallest number, first all lowest bytes, then the next ones. A column of
differences starts with the first number (i64).
)";
    fmt::format_to(
        std::back_inserter(page),
        "\n### {}: Meta\n\nFormat of the source (text), strings, launch configurations, arguments, tracks (each with "
        "its samples, and since version 4 the position, u64, and count, u32, of its Samples blocks), devices, "
        "metadata (pairs of texts), losses with their notes (texts), and explicit flows. Each list starts with its "
        "count (u32). The block is repeated before the overview.\n",
        static_cast<int>(FrameType::Meta));
    appendTable(page, "Launch configuration", "", kLaunchFields);
    appendTable(page, "Arguments", "", kArgsFields);
    appendTable(page, "Track", "", kTrackFields);
    appendTable(page, "Sample of a counter", "", kSampleFields);
    appendTable(page, "Device", "", kDeviceFields);
    appendTable(page, "Losses", "", kStatsFields);
    appendTable(page, "Flow", "", kFlowFields);
    appendTable(
        page, fmt::format("{}: Slices", static_cast<int>(FrameType::Slices)),
        "Up to 65,536 slices of a track, by start. Track, position of the first slice in its track, and count (u32 "
        "each), then the columns.",
        kSliceColumns);
    fmt::format_to(std::back_inserter(page), R"(
### {}: Overview

For each Slices block its track, position, count, times, kinds and links, and the rows that draw it zoomed out: their
level-of-detail index, and since version 5 the times per name.

### {}: Details

The arguments of up to 4,096 slices as they were in the original file, name by name.

### {}: DetailsIndex

Number of the first slice (u64) and position (u64) of each Details block.

### {}: Samples

Up to 65,536 samples of a counter: a column of times (ns) and one of values (the bits of an f64). Since version 4.
)",
                   static_cast<int>(FrameType::Overview), static_cast<int>(FrameType::Details),
                   static_cast<int>(FrameType::DetailsIndex), static_cast<int>(FrameType::Samples));
    return page;
}

} // namespace profiler::container
