#include "profiler/formats/container/trace_meta.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace profiler::container {

Bytes encodeSamples(std::span<const CounterSample> samples)
{
    std::vector<std::int64_t> times, values;
    for (const CounterSample& sample : samples) {
        times.push_back(toNs(sample.time));
        values.push_back(std::bit_cast<std::int64_t>(sample.value));
    }
    ByteWriter writer;
    writer.putColumn(times);
    writer.putColumn(values);
    return std::move(writer.bytes());
}

std::optional<std::vector<CounterSample>> decodeSamples(std::span<const std::byte> raw, std::uint32_t count)
{
    ByteReader reader{raw};
    std::vector<std::int64_t> times(count), values(count);
    reader.takeColumn(times);
    reader.takeColumn(values);
    if (reader.failed() || !reader.atEnd())
        return std::nullopt;
    std::vector<CounterSample> samples(count);
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = {traceTime(times[i]), std::bit_cast<double>(values[i])};
    return samples;
}

SealedSamples::SealedSamples(std::shared_ptr<const BlockFile> file, std::uint64_t begin,
                             std::vector<SamplePiece> pieces)
    : m_file(std::move(file)), m_begin(begin), m_pieces(std::move(pieces))
{
}

std::shared_ptr<const TrackBlock> SealedSamples::load(std::uint32_t) const
{
    return nullptr;
}

std::optional<std::vector<CounterSample>> SealedSamples::samples(std::uint32_t number) const
{
    const SamplePiece& piece = m_pieces.at(number);
    const std::uint64_t offset = m_begin + piece.offset;
    const auto raw = m_file->read(offset, FrameType::Samples);
    auto samples = raw ? decodeSamples(*raw, piece.count) : std::nullopt;
    const auto why = [&] {
        return raw ? fmt::format("counter values are damaged ({}, byte {})", m_file->path().string(), offset)
                   : raw.error().message();
    };
    note(number, samples ? std::nullopt : std::optional(Unread{0, piece.count, why()}));
    return samples;
}

std::uint64_t leaveSamples(TraceBuilder& builder, const std::shared_ptr<const BlockFile>& file, std::uint64_t begin,
                           const std::vector<SamplePiece>& pieces, std::uint64_t budget)
{
    if (pieces.empty())
        return 0;
    const auto source = std::make_shared<const SealedSamples>(file, begin, pieces);
    std::map<TrackId, std::vector<SampleRef>> parts;
    std::uint64_t taken = 0, left = 0;
    for (std::uint32_t i = 0; i < pieces.size(); ++i) {
        const std::uint64_t bytes = pieces[i].count * sizeof(CounterSample);
        if (taken + bytes > budget) {
            left += pieces[i].count;
            continue;
        }
        taken += bytes;
        parts[pieces[i].track].push_back({source, i, pieces[i].count});
    }
    for (auto& [track, some] : parts)
        builder.setSamples(track, std::move(some));
    return left;
}

namespace {

/// @param pieces  the pieces of its samples; if empty, the samples are stored here
void putTrack(ByteWriter& writer, const Trace& trace, const Track& track, std::span<const SamplePiece> pieces)
{
    writer.put(track.kind);
    for (const std::string* text : {&track.name, &track.unit, &track.processName})
        writer.putText(*text);
    writer.put(track.pid);
    writer.put(track.tid);
    writer.put(track.device.value);
    writer.put(track.stream.value);
    writer.put(track.sortIndex);
    writer.put(track.processSortIndex);
    const auto samples = pieces.empty() ? trace.counter(track.id) : std::vector<CounterSample>{};
    writer.put(static_cast<std::uint32_t>(samples.size()));
    for (const CounterSample& sample : samples) {
        writer.put(toNs(sample.time));
        writer.put(sample.value);
    }
    writer.put(static_cast<std::uint32_t>(pieces.size()));
    for (const SamplePiece& piece : pieces) {
        writer.put(piece.offset);
        writer.put(piece.count);
    }
}

void takeTrack(ByteReader& reader, std::uint32_t version, TraceBuilder& builder, std::vector<SamplePiece>& pieces)
{
    Track track;
    const auto kind = reader.take<std::uint8_t>();
    track.kind = kind < kTrackKinds ? static_cast<TrackKind>(kind) : TrackKind::Thread;
    for (std::string* text : {&track.name, &track.unit, &track.processName})
        *text = reader.takeText();
    track.pid = reader.take<std::int64_t>();
    track.tid = reader.take<std::int64_t>();
    track.device.value = reader.take<std::uint32_t>();
    track.stream.value = reader.take<std::uint32_t>();
    track.sortIndex = reader.take<std::int32_t>();
    if (version > 2)
        track.processSortIndex = reader.take<std::int32_t>();
    const TrackId id = builder.addTrack(std::move(track));
    constexpr std::size_t kSampleBytes = 16;
    for (std::uint32_t count = reader.takeCount(kSampleBytes); count > 0; --count) {
        const TraceTime time = traceTime(reader.take<std::int64_t>());
        builder.addSample(id, {time, reader.take<double>()});
    }
    constexpr std::size_t kPieceBytes = 12;
    for (std::uint32_t count = version > 3 ? reader.takeCount(kPieceBytes) : 0; count > 0; --count) {
        SamplePiece piece{id, reader.take<std::uint64_t>(), 0};
        piece.count = reader.take<std::uint32_t>();
        if (piece.count == 0 || piece.count > kSamplesTogether)
            reader.fail();
        pieces.push_back(piece);
    }
}

/// The stored fields of SliceArgs, in this order.
struct ArgsRecord {
    std::int64_t bytes, value;
    std::uint32_t shapes, types;
    std::uint32_t device, stream;
    std::uint8_t copy, src, dst;
    std::uint8_t has; ///< bit 0: device, bit 1: stream
    std::uint32_t launch; ///< 0 up to version 5
};
static_assert(sizeof(ArgsRecord) == 40);

void putArgs(ByteWriter& writer, const SliceArgs& args)
{
    ArgsRecord record{};
    record.bytes = args.bytes;
    record.value = args.value;
    record.shapes = args.shapes.value;
    record.types = args.types.value;
    record.device = args.device ? args.device->value : 0;
    record.stream = args.stream ? args.stream->value : 0;
    record.copy = static_cast<std::uint8_t>(args.copy);
    record.src = static_cast<std::uint8_t>(args.src);
    record.dst = static_cast<std::uint8_t>(args.dst);
    record.has = static_cast<std::uint8_t>((args.device ? 1 : 0) | (args.stream ? 2 : 0));
    record.launch = args.launch.value;
    writer.put(record);
}

/// The stored fields of LaunchConfig, in this order.
struct LaunchEntry {
    std::array<std::uint32_t, 3> grid, block;
    std::array<std::uint32_t, 4> figures; ///< kLaunchFigures
    std::uint32_t has;                    ///< one bit for each of them
};
static_assert(sizeof(LaunchEntry) == 44);

constexpr std::array<std::optional<std::uint32_t> LaunchConfig::*, 4> kLaunchFigures = {
    &LaunchConfig::registers, &LaunchConfig::sharedMemory, &LaunchConfig::dynamicSharedMemory,
    &LaunchConfig::localMemory};

void putLaunch(ByteWriter& writer, const LaunchConfig& launch)
{
    LaunchEntry entry{};
    entry.grid = launch.grid;
    entry.block = launch.block;
    for (std::size_t i = 0; i < kLaunchFigures.size(); ++i) {
        const std::optional<std::uint32_t> figure = launch.*kLaunchFigures[i];
        entry.figures[i] = figure.value_or(0);
        entry.has |= figure ? 1U << i : 0U;
    }
    writer.put(entry);
}

LaunchConfig takeLaunch(ByteReader& reader)
{
    const auto entry = reader.take<LaunchEntry>();
    LaunchConfig launch;
    launch.grid = entry.grid;
    launch.block = entry.block;
    for (std::size_t i = 0; i < kLaunchFigures.size(); ++i)
        if ((entry.has >> i & 1) != 0)
            launch.*kLaunchFigures[i] = entry.figures[i];
    return launch;
}

template <class Enum>
Enum checked(std::uint8_t value, Enum last)
{
    return value <= static_cast<std::uint8_t>(last) ? static_cast<Enum>(value) : Enum{};
}

SliceArgs takeArgs(ByteReader& reader, std::uint32_t strings, std::uint32_t launches)
{
    const auto record = reader.take<ArgsRecord>();
    SliceArgs args;
    args.bytes = record.bytes;
    args.value = record.value;
    args.shapes.value = record.shapes;
    args.types.value = record.types;
    args.copy = checked(record.copy, CopyKind::HtoH);
    args.src = checked(record.src, MemoryKind::Managed);
    args.dst = checked(record.dst, MemoryKind::Managed);
    if ((record.has & 1) != 0)
        args.device = DeviceId{record.device};
    if ((record.has & 2) != 0)
        args.stream = StreamId{record.stream};
    args.launch.value = record.launch;
    if (record.shapes >= strings || record.types >= strings || record.launch > launches)
        reader.fail();
    return args;
}

void putStats(ByteWriter& writer, const CaptureStats& stats)
{
    writer.put(stats.dropped);
    writer.put(stats.unmatched);
    writer.put(static_cast<std::uint8_t>((stats.cut ? 1 : 0) | (stats.live ? 2 : 0)));
    writer.put(static_cast<std::uint32_t>(stats.notes.size()));
    for (const Message& note : stats.notes)
        writer.putText(messageLine(note));
}

void takeStats(ByteReader& reader, CaptureStats& stats)
{
    stats.dropped = reader.take<std::uint64_t>();
    stats.unmatched = reader.take<std::uint64_t>();
    const auto flags = reader.take<std::uint8_t>();
    stats.cut = (flags & 1) != 0;
    stats.live = (flags & 2) != 0;
    for (std::uint32_t count = reader.takeCount(sizeof count); count > 0; --count)
        stats.notes.push_back(messageOfLine(reader.takeText()));
}

void takePools(ByteReader& reader, std::uint32_t version, TraceBuilder& builder, DecodedMeta& meta)
{
    meta.limits.strings = reader.takeCount(sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < meta.limits.strings && !reader.failed(); ++i) {
        if (builder.intern(reader.takeText()).value != i)
            reader.fail(); // a duplicate string would shift all later ids
    }
    const std::uint32_t launches = version > 5 ? reader.takeCount(sizeof(LaunchEntry)) : 0;
    for (std::uint32_t i = 1; i <= launches && !reader.failed(); ++i) {
        if (builder.internLaunch(takeLaunch(reader)).value != i)
            reader.fail();
    }
    meta.limits.args = reader.takeCount(sizeof(ArgsRecord));
    for (std::uint32_t i = 0; i < meta.limits.args && !reader.failed(); ++i) {
        if (builder.internArgs(takeArgs(reader, meta.limits.strings, launches)) != i)
            reader.fail();
    }
}

} // namespace

Bytes encodeMeta(const Trace& trace, std::span<const Flow> flows, std::span<const SamplePiece> pieces,
                 const std::map<std::string, std::string>& metadata)
{
    ByteWriter writer;
    writer.putText(trace.format());
    writer.put(trace.stringCount());
    for (std::uint32_t i = 0; i < trace.stringCount(); ++i)
        writer.putText(trace.string(StringId{i}));
    writer.put(trace.launchCount());
    for (std::uint32_t i = 1; i <= trace.launchCount(); ++i)
        putLaunch(writer, trace.launch(LaunchId{i}));
    writer.put(trace.argsCount());
    for (std::uint32_t i = 0; i < trace.argsCount(); ++i)
        putArgs(writer, trace.args(i));
    writer.put(static_cast<std::uint32_t>(trace.tracks().size()));
    for (const Track& track : trace.tracks()) {
        const auto others =
            std::find_if(pieces.begin(), pieces.end(), [&](const auto& p) { return p.track != track.id; });
        putTrack(writer, trace, track, {pieces.begin(), others});
        pieces = {others, pieces.end()};
    }
    writer.put(static_cast<std::uint32_t>(trace.devices().size()));
    for (const Device& device : trace.devices()) {
        writer.put(device.id.value);
        writer.putText(device.name);
        writer.putText(device.uuid);
        writer.put(static_cast<std::int32_t>(device.computeMajor));
        writer.put(static_cast<std::int32_t>(device.computeMinor));
        writer.put(device.memoryBytes);
        for (const int figure : {device.multiprocessors, device.limits.threads, device.limits.blocks,
                                 device.limits.registers, device.limits.sharedMemory})
            writer.put(static_cast<std::int32_t>(figure));
    }
    auto all = trace.metadata();
    for (const auto& [key, value] : metadata) {
        all[key] = value;
        if (value.empty())
            all.erase(key);
    }
    writer.put(static_cast<std::uint32_t>(all.size()));
    for (const auto& [key, value] : all) {
        writer.putText(key);
        writer.putText(value);
    }
    putStats(writer, trace.captureStats());
    writer.put(static_cast<std::uint32_t>(flows.size()));
    for (const Flow& flow : flows) {
        writer.put(flow.kind);
        for (const SliceId end : {flow.from, flow.to}) {
            writer.put(end.track.value);
            writer.put(end.ordinal);
        }
    }
    return std::move(writer.bytes());
}

DecodedMeta decodeMeta(std::span<const std::byte> raw, std::uint32_t version, TraceBuilder& builder)
{
    ByteReader reader{raw};
    DecodedMeta meta;
    builder.setFormat(std::string{reader.takeText()});
    takePools(reader, version, builder, meta);
    constexpr std::size_t kLeastTrack = 44;
    constexpr std::size_t kLeastDevice = 12;
    constexpr std::size_t kFlow = 17;
    meta.limits.tracks = reader.takeCount(kLeastTrack);
    for (std::uint32_t i = 0; i < meta.limits.tracks && !reader.failed(); ++i)
        takeTrack(reader, version, builder, meta.pieces);
    for (std::uint32_t count = reader.takeCount(kLeastDevice); count > 0 && !reader.failed(); --count) {
        Device device;
        device.id.value = reader.take<std::uint32_t>();
        device.name = reader.takeText();
        device.uuid = reader.takeText();
        if (version > 1) {
            device.computeMajor = reader.take<std::int32_t>();
            device.computeMinor = reader.take<std::int32_t>();
            device.memoryBytes = reader.take<std::int64_t>();
        }
        for (int* figure : {&device.multiprocessors, &device.limits.threads, &device.limits.blocks,
                            &device.limits.registers, &device.limits.sharedMemory})
            *figure = version > 5 ? reader.take<std::int32_t>() : 0;
        builder.addDevice(std::move(device));
    }
    for (std::uint32_t count = reader.takeCount(2 * sizeof count); count > 0 && !reader.failed(); --count) {
        std::string key{reader.takeText()};
        builder.setMetadata(std::move(key), std::string{reader.takeText()});
    }
    takeStats(reader, builder.captureStats());
    for (std::uint32_t count = reader.takeCount(kFlow); count > 0 && !reader.failed(); --count) {
        Flow flow;
        flow.kind = checked(reader.take<std::uint8_t>(), FlowKind::Async);
        for (SliceId* end : {&flow.from, &flow.to}) {
            end->track.value = reader.take<std::uint32_t>();
            end->ordinal = reader.take<std::uint32_t>();
        }
        meta.flows.push_back(flow);
    }
    meta.good = !reader.failed() && reader.atEnd();
    return meta;
}

} // namespace profiler::container
