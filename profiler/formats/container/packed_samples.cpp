#include "profiler/formats/container/packed_samples.h"

#include <bit>
#include <fmt/core.h>
#include <map>
#include <utility>

namespace profiler::packed {

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

PackedSamples::PackedSamples(std::shared_ptr<const SectionFile> file, std::uint64_t begin,
                             std::vector<SamplePiece> pieces)
    : m_file(std::move(file)), m_begin(begin), m_pieces(std::move(pieces))
{
}

std::shared_ptr<const TrackBlock> PackedSamples::load(std::uint32_t) const
{
    return nullptr;
}

std::optional<std::vector<CounterSample>> PackedSamples::samples(std::uint32_t number) const
{
    const SamplePiece& piece = m_pieces.at(number);
    const std::uint64_t offset = m_begin + piece.offset;
    const auto raw = m_file->read(offset, SectionType::Samples);
    auto samples = raw ? decodeSamples(*raw, piece.count) : std::nullopt;
    const auto why = [&] {
        return raw ? fmt::format("counter values are damaged ({}, byte {})", m_file->path().string(), offset)
                   : raw.error().message();
    };
    note(number, samples ? std::nullopt : std::optional(Unread{0, piece.count, why()}));
    return samples;
}

std::uint64_t leaveSamples(TraceBuilder& builder, const std::shared_ptr<const SectionFile>& file, std::uint64_t begin,
                           const std::vector<SamplePiece>& pieces, std::uint64_t budget)
{
    if (pieces.empty())
        return 0;
    const auto source = std::make_shared<const PackedSamples>(file, begin, pieces);
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

} // namespace profiler::packed
