#pragma once

#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/frame.h"
#include "profiler/model/pools.h"
#include "profiler/model/slice_columns.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// The fields of the trace file format. Each table lists the fields of one record in their order in the file; the
/// codecs of blocks iterate over these tables, static_asserts compare those of frames with their structs, exporters
/// take their column names from them, and formatPage() makes resources/formats/stepscope_trace.md of them.
namespace profiler::container {

/// A field as documentation and exporters see it.
struct FieldInfo {
    std::string_view name;
    std::string_view doc;         ///< meaning, unit, and the value that stands for "none"
    std::uint32_t since = 1;      ///< first version that has it: of live files for frames, of sealed files for blocks
    std::string_view column = {}; ///< its column in exported tables; empty: it has none
};

namespace detail {

template <class Record, class T>
Record recordOf(T Record::*);
template <class Record, class T>
T typeOf(T Record::*);

template <class T>
concept StrongId = requires(T id)
{
    T{id.value};
};
template <class T>
concept SizeTriple = std::is_same_v<T, std::array<std::uint32_t, 3>>;
template <class T>
concept Text = std::is_same_v<T, std::string>;

template <class T>
constexpr std::string_view typeName()
{
    if constexpr (std::is_array_v<T>)
        return sizeof(T) / sizeof(std::remove_extent_t<T>) == 3 ? "u32[3]" : "u8[8]";
    else if constexpr (Text<T>)
        return "text";
    else if constexpr (SizeTriple<T>)
        return "u32[3]";
    else if constexpr (StrongId<T>)
        return "u32";
    else if constexpr (std::is_enum_v<T>)
        return typeName<std::underlying_type_t<T>>();
    else if constexpr (std::is_signed_v<T>)
        return sizeof(T) == 8 ? "i64" : "i32";
    else
        return sizeof(T) == 8 ? "u64" : sizeof(T) == 4 ? "u32" : sizeof(T) == 2 ? "u16" : "u8";
}

/// Bytes of a value in the file; for texts those of an empty one.
template <class T>
constexpr std::size_t leastBytes()
{
    return Text<T> ? sizeof(std::uint32_t) : sizeof(T);
}

constexpr TrackKind lastOf(TrackKind)
{
    return TrackKind::Annotation;
}
constexpr CopyKind lastOf(CopyKind)
{
    return CopyKind::HtoH;
}
constexpr MemoryKind lastOf(MemoryKind)
{
    return MemoryKind::Managed;
}
constexpr FlowKind lastOf(FlowKind)
{
    return FlowKind::Async;
}

template <class T>
void putValue(ByteWriter& writer, const T& value)
{
    if constexpr (Text<T>)
        writer.putText(value);
    else if constexpr (StrongId<T>)
        writer.put(value.value);
    else
        writer.put(value);
}

/// An unknown enumerator becomes the first one.
template <class T>
T takeValue(ByteReader& reader)
{
    if constexpr (Text<T>) {
        return std::string{reader.takeText()};
    } else if constexpr (StrongId<T>) {
        return T{reader.take<std::uint32_t>()};
    } else if constexpr (std::is_enum_v<T>) {
        const auto value = static_cast<T>(reader.take<std::underlying_type_t<T>>());
        return value <= lastOf(T{}) ? value : T{};
    } else {
        return reader.take<T>();
    }
}

} // namespace detail

/// A field of a record in the Meta block.
template <class Record>
struct Field : FieldInfo {
    std::string_view type;
    std::size_t least; ///< bytes in the file; for texts those of an empty one
    void (*put)(ByteWriter&, const Record&);
    void (*take)(ByteReader&, Record&);
};

/// A field that is a member of its record.
template <auto Member>
constexpr auto field(const FieldInfo& info)
{
    using Record = decltype(detail::recordOf(Member));
    using T = decltype(detail::typeOf(Member));
    return Field<Record>{info, detail::typeName<T>(), detail::leastBytes<T>(),
                         [](ByteWriter& writer, const Record& record) { detail::putValue(writer, record.*Member); },
                         [](ByteReader& reader, Record& record) { record.*Member = detail::takeValue<T>(reader); }};
}

/// A field that is a member of a member.
template <auto Outer, auto Inner>
constexpr auto field(const FieldInfo& info)
{
    using Record = decltype(detail::recordOf(Outer));
    using T = decltype(detail::typeOf(Inner));
    return Field<Record>{
        info, detail::typeName<T>(), detail::leastBytes<T>(),
        [](ByteWriter& writer, const Record& record) { detail::putValue(writer, record.*Outer.*Inner); },
        [](ByteReader& reader, Record& record) { record.*Outer.*Inner = detail::takeValue<T>(reader); }};
}

/// A member that may be empty, stored as a u32 that is 0 then. A later field has a bit that says which.
template <auto Member>
constexpr auto optionalField(const FieldInfo& info)
{
    using Record = decltype(detail::recordOf(Member));
    using T = typename decltype(detail::typeOf(Member))::value_type;
    return Field<Record>{
        info, "u32", sizeof(std::uint32_t),
        [](ByteWriter& writer, const Record& record) { detail::putValue(writer, (record.*Member).value_or(T{})); },
        [](ByteReader& reader, Record& record) { record.*Member = detail::takeValue<T>(reader); }};
}

/// The bits that say which optional members are set. Bits is the stored type.
template <class Bits, auto... Members>
constexpr auto presence(const FieldInfo& info)
{
    using Record = std::common_type_t<decltype(detail::recordOf(Members))...>;
    return Field<Record>{info, detail::typeName<Bits>(), sizeof(Bits),
                         [](ByteWriter& writer, const Record& record) {
                             unsigned bits = 0, bit = 1;
                             ((bits |= (record.*Members) ? bit : 0, bit <<= 1), ...);
                             writer.put(static_cast<Bits>(bits));
                         },
                         [](ByteReader& reader, Record& record) {
                             unsigned bits = reader.take<Bits>();
                             ((void((bits & 1) == 0 ? (record.*Members).reset() : void()), bits >>= 1), ...);
                         }};
}

template <class Record, std::size_t N>
void putRecord(ByteWriter& writer, const std::array<Field<Record>, N>& fields, const Record& record)
{
    for (const Field<Record>& field : fields)
        field.put(writer, record);
}

/// Fields that the version does not have keep their defaults.
template <class Record, std::size_t N>
Record takeRecord(ByteReader& reader, const std::array<Field<Record>, N>& fields, std::uint32_t version)
{
    Record record;
    for (const Field<Record>& field : fields)
        if (version >= field.since)
            field.take(reader, record);
    return record;
}

/// The least bytes of a record in a file of this version, for checks of counts.
template <class Record, std::size_t N>
constexpr std::size_t leastBytes(const std::array<Field<Record>, N>& fields, std::uint32_t version)
{
    std::size_t bytes = 0;
    for (const Field<Record>& field : fields)
        bytes += version >= field.since ? field.least : 0;
    return bytes;
}

/// The column of a field in exported tables. Does not compile if there is no such field or column.
template <class Table>
consteval std::string_view columnOf(const Table& fields, std::string_view name)
{
    for (const auto& field : fields)
        if (field.name == name && !field.column.empty())
            return field.column;
    throw "no such column";
}

// --- Meta block ----------------------------------------------------------------------------------------------------

inline constexpr std::array kTrackFields{
    field<&Track::kind>({"kind", "thread, main thread, loader worker, stream, counter, NVTX domain, annotation"}),
    field<&Track::name>({"name", R"("main thread", "stream 7")", 1, "track"}),
    field<&Track::unit>({"unit", "of a counter's values"}),
    field<&Track::processName>({"process_name", "empty if unknown", 1, "process"}),
    field<&Track::pid>({"pid", "process id, 0 if unknown", 1, "pid"}),
    field<&Track::tid>({"tid", "system thread id, 0 if there is none", 1, "tid"}),
    field<&Track::device>({"device", "CUDA device ordinal, for streams and annotations", 1, "device"}),
    field<&Track::stream>({"stream", "CUDA stream number, for streams and annotations", 1, "stream"}),
    field<&Track::sortIndex>({"sort_index", "tracks of a process with smaller ones come first"}),
    field<&Track::processSortIndex>({"process_sort_index", "processes with smaller ones come first", 3}),
};

inline constexpr std::array kSampleFields{
    Field<CounterSample>{
        {"time", "ns"},
        "i64",
        sizeof(std::int64_t),
        [](ByteWriter& writer, const CounterSample& sample) { writer.put(toNs(sample.time)); },
        [](ByteReader& reader, CounterSample& sample) { sample.time = traceTime(reader.take<std::int64_t>()); }},
    Field<CounterSample>{{"value", "in the track's unit"},
                         "f64",
                         sizeof(double),
                         [](ByteWriter& writer, const CounterSample& sample) { writer.put(sample.value); },
                         [](ByteReader& reader, CounterSample& sample) { sample.value = reader.take<double>(); }},
};

inline constexpr std::array kArgsFields{
    field<&SliceArgs::bytes>({"bytes", "of a copy, memset or read; 0: none", 1, "bytes"}),
    field<&SliceArgs::value>({"value", "index of a step, batch or sample; 0: none", 1, "value"}),
    field<&SliceArgs::shapes>({"shapes", "string: input sizes of an operator", 1, "shapes"}),
    field<&SliceArgs::types>({"types", "string: input types of an operator", 1, "types"}),
    optionalField<&SliceArgs::device>({"device", "device that the slice itself names"}),
    optionalField<&SliceArgs::stream>({"stream", "stream that the slice itself names"}),
    field<&SliceArgs::copy>({"copy", "unknown, HtoD, DtoH, DtoD, PtoP, HtoH", 1, "copy"}),
    field<&SliceArgs::src>({"src", "memory: unknown, pageable, pinned, device, array, managed", 1, "from"}),
    field<&SliceArgs::dst>({"dst", "memory, as src", 1, "to"}),
    presence<std::uint8_t, &SliceArgs::device, &SliceArgs::stream>({"has", "bit 0: device is set, bit 1: stream"}),
    field<&SliceArgs::launch>({"launch", "number of the launch configuration, from 1; 0 up to version 5: none"}),
};

inline constexpr std::array kLaunchFields{
    field<&LaunchConfig::grid>({"grid", "x, y, z in blocks; 0, 0, 0: unknown", 6, "grid"}),
    field<&LaunchConfig::block>({"block", "x, y, z in threads; 0, 0, 0: unknown", 6, "block"}),
    optionalField<&LaunchConfig::registers>({"registers", "per thread", 6, "registers_per_thread"}),
    optionalField<&LaunchConfig::sharedMemory>(
        {"shared_memory", "bytes per block, static and dynamic", 6, "shared_memory_bytes"}),
    optionalField<&LaunchConfig::dynamicSharedMemory>({"dynamic_shared_memory", "bytes per block", 6}),
    optionalField<&LaunchConfig::localMemory>({"local_memory", "bytes per thread", 6}),
    presence<std::uint32_t, &LaunchConfig::registers, &LaunchConfig::sharedMemory, &LaunchConfig::dynamicSharedMemory,
             &LaunchConfig::localMemory>({"has", "bits 0 to 3: the four fields before are known", 6}),
};

inline constexpr std::array kDeviceFields{
    field<&Device::id>({"id", "CUDA device ordinal"}),
    field<&Device::name>({"name", "\"NVIDIA H100\""}),
    field<&Device::uuid>({"uuid", "empty if unknown"}),
    field<&Device::computeMajor>({"compute_major", "compute capability; 0: unknown", 2}),
    field<&Device::computeMinor>({"compute_minor", "compute capability", 2}),
    field<&Device::memoryBytes>({"memory_bytes", "size of the memory; 0: unknown", 2}),
    field<&Device::multiprocessors>({"multiprocessors", "their number; 0: unknown", 6}),
    field<&Device::limits, &MultiprocessorLimits::threads>({"threads", "per multiprocessor; 0: unknown", 6}),
    field<&Device::limits, &MultiprocessorLimits::blocks>({"blocks", "per multiprocessor; 0: unknown", 6}),
    field<&Device::limits, &MultiprocessorLimits::registers>({"registers", "per multiprocessor; 0: unknown", 6}),
    field<&Device::limits, &MultiprocessorLimits::sharedMemory>(
        {"shared_memory", "bytes per multiprocessor; 0: unknown", 6}),
};

inline constexpr std::array kFlowFields{
    field<&Flow::kind>({"kind", "launch, forward to backward, asynchronous"}),
    field<&Flow::from, &SliceId::track>({"from_track", "index of a track"}),
    field<&Flow::from, &SliceId::ordinal>({"from_slice", "position of the slice in its track"}),
    field<&Flow::to, &SliceId::track>({"to_track", "index of a track"}),
    field<&Flow::to, &SliceId::ordinal>({"to_slice", "position of the slice in its track"}),
};

inline constexpr std::array kStatsFields{
    field<&CaptureStats::dropped>({"dropped", "events that did not fit into the capture buffers"}),
    field<&CaptureStats::unmatched>({"unmatched", "ends without a start, device work without its launch"}),
    Field<CaptureStats>{{"flags", "bit 0: the recording was cut off, bit 1: it still ran when it was saved"},
                        "u8",
                        1,
                        [](ByteWriter& writer, const CaptureStats& stats) {
                            writer.put(static_cast<std::uint8_t>((stats.cut ? 1 : 0) | (stats.live ? 2 : 0)));
                        },
                        [](ByteReader& reader, CaptureStats& stats) {
                            const auto flags = reader.take<std::uint8_t>();
                            stats.cut = (flags & 1) != 0;
                            stats.live = (flags & 2) != 0;
                        }},
};

// --- Slices block --------------------------------------------------------------------------------------------------

enum class Coding { Plain, Steps }; ///< Steps: the difference from the previous slice

/// The numbers of strings and arguments. Slices that refer to others are damaged.
struct BlockLimits {
    std::uint32_t names = 0, args = 0;
};

/// A column of a Slices block.
struct SliceColumn : FieldInfo {
    Coding coding;
    std::int64_t (*get)(const RawSlice&);
    bool (*set)(RawSlice&, std::int64_t, const BlockLimits&); ///< returns false for an invalid value
};

namespace detail {

template <class T>
bool fits(std::int64_t value)
{
    return value >= 0 && value <= static_cast<std::int64_t>(std::numeric_limits<T>::max());
}

} // namespace detail

inline constexpr std::uint8_t kStoredFlags = slice_flag::kOpen | slice_flag::kBackward | slice_flag::kAsync;

inline constexpr std::array kSliceColumns{
    SliceColumn{{"begin", "ns, CLOCK_MONOTONIC of the recording", 1, "begin_us"},
                Coding::Steps,
                [](const RawSlice& s) { return s.begin; },
                [](RawSlice& s, std::int64_t v, const BlockLimits&) {
                    s.begin = v;
                    return v >= -RawSlice::kTimeLimit && v <= RawSlice::kTimeLimit;
                }},
    SliceColumn{{"duration", "ns", 1, "duration_us"},
                Coding::Plain,
                [](const RawSlice& s) { return s.duration; },
                [](RawSlice& s, std::int64_t v, const BlockLimits&) {
                    s.duration = v;
                    return v >= 0 && v <= RawSlice::kTimeLimit;
                }},
    SliceColumn{{"kind", "ActivityKind, with the PyTorch profiler's names in exports", 1, "kind"},
                Coding::Plain,
                [](const RawSlice& s) { return static_cast<std::int64_t>(s.kind); },
                [](RawSlice& s, std::int64_t v, const BlockLimits&) {
                    s.kind = static_cast<ActivityKind>(v);
                    return v >= 0 && v < kActivityKinds;
                }},
    SliceColumn{{"depth", "nesting within its track, 0 outermost", 1, "depth"},
                Coding::Plain,
                [](const RawSlice& s) { return std::int64_t{s.depth}; },
                [](RawSlice& s, std::int64_t v, const BlockLimits&) {
                    s.depth = static_cast<std::uint8_t>(v);
                    return detail::fits<std::uint8_t>(v);
                }},
    SliceColumn{{"flags", "1: started but never ended, 2: backward operator, 4: asynchronous"},
                Coding::Plain,
                [](const RawSlice& s) { return std::int64_t{s.flags} & kStoredFlags; },
                [](RawSlice& s, std::int64_t v, const BlockLimits&) {
                    s.flags = static_cast<std::uint8_t>(v);
                    return (v & ~std::int64_t{kStoredFlags}) == 0;
                }},
    SliceColumn{{"name", "string", 1, "name"},
                Coding::Plain,
                [](const RawSlice& s) { return std::int64_t{s.name}; },
                [](RawSlice& s, std::int64_t v, const BlockLimits& limits) {
                    s.name = static_cast<std::uint32_t>(v);
                    return v >= 0 && v < std::int64_t{limits.names};
                }},
    SliceColumn{{"args", "index of the arguments in Meta; the highest bits mark small values that are stored here"},
                Coding::Plain,
                [](const RawSlice& s) { return std::int64_t{s.args}; },
                [](RawSlice& s, std::int64_t v, const BlockLimits& limits) {
                    s.args = static_cast<std::uint32_t>(v);
                    return detail::fits<std::uint32_t>(v) && (ArgsPool::isInline(s.args) || s.args < limits.args);
                }},
    SliceColumn{{"link", "operators: autograd sequence number, -1 for none; others: correlation id, 0 for none", 1,
                 "correlation"},
                Coding::Steps,
                [](const RawSlice& s) { return s.link; },
                [](RawSlice& s, std::int64_t v, const BlockLimits&) {
                    s.link = v;
                    return true;
                }},
    SliceColumn{{"details", "number of the slice in the Details blocks; 0: none"},
                Coding::Steps,
                [](const RawSlice& s) { return static_cast<std::int64_t>(s.source()); },
                [](RawSlice& s, std::int64_t v, const BlockLimits&) {
                    s.setSource(static_cast<std::uint64_t>(v));
                    return v >= 0 && v <= static_cast<std::int64_t>(RawSlice::kMaxSource);
                }},
    SliceColumn{{"external_id", "connects an operator with what it launched; 0: none"},
                Coding::Steps,
                [](const RawSlice& s) { return std::int64_t{s.external}; },
                [](RawSlice& s, std::int64_t v, const BlockLimits&) {
                    s.external = static_cast<std::uint32_t>(v);
                    return detail::fits<std::uint32_t>(v);
                }},
};

/// The format as a page in Markdown: resources/formats/stepscope_trace.md.
std::string formatPage();

} // namespace profiler::container
