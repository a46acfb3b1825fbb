#include "profiler/formats/container/trace_meta.h"

#include "profiler/formats/container/fields.h"

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
    putRecord(writer, kTrackFields, track);
    const auto samples = pieces.empty() ? trace.counter(track.id) : std::vector<CounterSample>{};
    writer.put(static_cast<std::uint32_t>(samples.size()));
    for (const CounterSample& sample : samples)
        putRecord(writer, kSampleFields, sample);
    writer.put(static_cast<std::uint32_t>(pieces.size()));
    for (const SamplePiece& piece : pieces) {
        writer.put(piece.offset);
        writer.put(piece.count);
    }
}

void takeTrack(ByteReader& reader, std::uint32_t version, TraceBuilder& builder, std::vector<SamplePiece>& pieces)
{
    const TrackId id = builder.addTrack(takeRecord(reader, kTrackFields, version));
    for (auto count = reader.takeCount(leastBytes(kSampleFields, version)); count > 0; --count)
        builder.addSample(id, takeRecord(reader, kSampleFields, version));
    constexpr std::size_t kPieceBytes = 12;
    for (std::uint32_t count = version > 3 ? reader.takeCount(kPieceBytes) : 0; count > 0; --count) {
        SamplePiece piece{id, reader.take<std::uint64_t>(), 0};
        piece.count = reader.take<std::uint32_t>();
        if (piece.count == 0 || piece.count > kSamplesTogether)
            reader.fail();
        pieces.push_back(piece);
    }
}

void takeStats(ByteReader& reader, std::uint32_t version, CaptureStats& stats)
{
    stats = takeRecord(reader, kStatsFields, version);
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
    const std::uint32_t launches = version > 5 ? reader.takeCount(leastBytes(kLaunchFields, version)) : 0;
    for (std::uint32_t i = 1; i <= launches && !reader.failed(); ++i) {
        if (builder.internLaunch(takeRecord(reader, kLaunchFields, version)).value != i)
            reader.fail();
    }
    meta.limits.args = reader.takeCount(leastBytes(kArgsFields, version));
    for (std::uint32_t i = 0; i < meta.limits.args && !reader.failed(); ++i) {
        const SliceArgs args = takeRecord(reader, kArgsFields, version);
        const bool known = args.shapes.value < meta.limits.strings && args.types.value < meta.limits.strings &&
                           args.launch.value <= launches;
        if (!known || builder.internArgs(args) != i)
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
        putRecord(writer, kLaunchFields, trace.launch(LaunchId{i}));
    writer.put(trace.argsCount());
    for (std::uint32_t i = 0; i < trace.argsCount(); ++i)
        putRecord(writer, kArgsFields, trace.args(i));
    writer.put(static_cast<std::uint32_t>(trace.tracks().size()));
    for (const Track& track : trace.tracks()) {
        const auto others =
            std::find_if(pieces.begin(), pieces.end(), [&](const auto& p) { return p.track != track.id; });
        putTrack(writer, trace, track, {pieces.begin(), others});
        pieces = {others, pieces.end()};
    }
    writer.put(static_cast<std::uint32_t>(trace.devices().size()));
    for (const Device& device : trace.devices())
        putRecord(writer, kDeviceFields, device);
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
    const CaptureStats stats = trace.captureStats();
    putRecord(writer, kStatsFields, stats);
    writer.put(static_cast<std::uint32_t>(stats.notes.size()));
    for (const Message& note : stats.notes)
        writer.putText(messageLine(note));
    writer.put(static_cast<std::uint32_t>(flows.size()));
    for (const Flow& flow : flows)
        putRecord(writer, kFlowFields, flow);
    return std::move(writer.bytes());
}

DecodedMeta decodeMeta(std::span<const std::byte> raw, std::uint32_t version, TraceBuilder& builder)
{
    ByteReader reader{raw};
    DecodedMeta meta;
    builder.setFormat(std::string{reader.takeText()});
    takePools(reader, version, builder, meta);
    meta.limits.tracks = reader.takeCount(leastBytes(kTrackFields, version));
    for (std::uint32_t i = 0; i < meta.limits.tracks && !reader.failed(); ++i)
        takeTrack(reader, version, builder, meta.pieces);
    for (auto count = reader.takeCount(leastBytes(kDeviceFields, version)); count > 0 && !reader.failed(); --count)
        builder.addDevice(takeRecord(reader, kDeviceFields, version));
    for (std::uint32_t count = reader.takeCount(2 * sizeof count); count > 0 && !reader.failed(); --count) {
        std::string key{reader.takeText()};
        builder.setMetadata(std::move(key), std::string{reader.takeText()});
    }
    takeStats(reader, version, builder.captureStats());
    for (auto count = reader.takeCount(leastBytes(kFlowFields, version)); count > 0 && !reader.failed(); --count)
        meta.flows.push_back(takeRecord(reader, kFlowFields, version));
    meta.good = !reader.failed() && reader.atEnd();
    return meta;
}

} // namespace profiler::container
