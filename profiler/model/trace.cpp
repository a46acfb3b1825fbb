#include "profiler/model/trace.h"

#include "profiler/model/trace_data.h"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace profiler {
namespace {

/// Where a slice lies, and what it is sorted by.
struct Place {
    std::int64_t begin, duration;
    TrackId track;
    std::uint32_t block, position;
    std::uint8_t depth;
};

Place placeOf(TrackId track, const TrackBlock& block, std::uint32_t blockIndex, std::uint32_t position)
{
    const auto& columns = block.columns;
    return {columns.begin[position], columns.duration[position], track, blockIndex, position, columns.depth[position]};
}

void sortByBegin(std::vector<Place>& places)
{
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return std::tuple{a.begin, -a.duration, a.depth} < std::tuple{b.begin, -b.duration, b.depth};
    });
}

} // namespace

Trace::Trace() : m(std::make_unique<Data>()) {}
Trace::~Trace() = default;

std::span<const Track> Trace::tracks() const
{
    return m->tracks;
}
const Track& Trace::track(TrackId id) const
{
    return m->tracks.at(id.value);
}
std::span<const Device> Trace::devices() const
{
    return m->devices;
}
TimeRange Trace::range() const
{
    return m->range;
}
std::size_t Trace::sliceCount() const
{
    return m->count;
}
std::size_t Trace::sliceCount(TrackId track) const
{
    return m->of(track).count;
}
int Trace::depthCount(TrackId track) const
{
    return m->of(track).depthCount;
}
const std::map<std::string, std::string, std::less<>>& Trace::metadata() const
{
    return m->metadata;
}
const CaptureStats& Trace::captureStats() const
{
    return m->stats;
}
std::string_view Trace::format() const
{
    return m->format;
}

std::string_view Trace::string(StringId id) const
{
    assert(id.value < m->strings.size());
    return m->strings[id.value].text;
}

std::uint32_t Trace::stringCount() const
{
    return static_cast<std::uint32_t>(m->strings.size());
}

Result<SliceDetails> Trace::details(SliceId id) const
{
    const std::uint64_t source = slice(id).source;
    if (source == 0 || !m->argSource)
        return SliceDetails{};
    return m->argSource->read(source);
}

std::optional<StringId> Trace::findString(std::string_view text) const
{
    const auto& ids = m->ids();
    const auto found = ids.find(text);
    return found == ids.end() ? std::nullopt : std::optional{found->second};
}

Slice Trace::Data::slice(TrackId track, const TrackBlock& block, std::uint32_t position) const
{
    const RawSlice raw = block.at(position);
    Slice slice;
    slice.id = {track, raw.ordinal};
    slice.begin = traceTime(raw.begin);
    slice.duration = Nanoseconds{raw.duration};
    slice.name = StringId{raw.name};
    slice.kind = raw.kind;
    slice.depth = raw.depth;
    slice.flags = raw.flags & static_cast<std::uint8_t>(~RawSlice::kInferredDepth);
    if (raw.kind == ActivityKind::CpuOp)
        slice.sequence = raw.link;
    else
        slice.correlation = CorrelationId{static_cast<std::uint64_t>(raw.link)};
    slice.externalId = raw.external;
    slice.source = raw.source();
    slice.args = ArgsPool::resolve(args, raw.args);
    return slice;
}

Slice Trace::slice(SliceId id) const
{
    for (const auto& block : m->of(id.track).blocks) {
        if (const auto position = block->find(id.ordinal))
            return m->slice(id.track, *block, *position);
    }
    assert(!"an id of this trace");
    return {};
}

void Trace::forEach(TrackId track, TimeRange window, const std::function<bool(const Slice&)>& visit) const
{
    for (const auto& block : m->of(track).blocks) {
        const auto visitAt = [&](std::uint32_t position) { return visit(m->slice(track, *block, position)); };
        if (!block->forEach(toNs(window.begin), toNs(window.end), visitAt))
            return;
    }
}

std::vector<Slice> Trace::sorted(TrackId track) const
{
    const TrackSlices& of = m->of(track);
    std::vector<Place> places;
    places.reserve(of.count);
    for (std::uint32_t i = 0; i < of.blocks.size(); ++i) {
        for (std::uint32_t position = 0; position < of.blocks[i]->size(); ++position)
            places.push_back(placeOf(track, *of.blocks[i], i, position));
    }
    sortByBegin(places);
    std::vector<Slice> slices;
    slices.reserve(places.size());
    for (const Place& place : places)
        slices.push_back(m->slice(track, *of.blocks[place.block], place.position));
    return slices;
}

std::vector<Slice> Trace::ofKind(ActivityKind kind) const
{
    std::vector<Place> places;
    for (const Track& track : m->tracks) {
        const auto& blocks = m->of(track.id).blocks;
        for (std::uint32_t i = 0; i < blocks.size(); ++i) {
            if (!blocks[i]->holds(kind))
                continue;
            for (const Row& row : blocks[i]->rows.rows()) {
                for (std::uint32_t entry = 0; row.kind == kind && entry < row.count; ++entry)
                    places.push_back(placeOf(track.id, *blocks[i], i, blocks[i]->rows.position(row, entry)));
            }
        }
    }
    sortByBegin(places);
    std::vector<Slice> slices;
    slices.reserve(places.size());
    for (const Place& place : places)
        slices.push_back(m->slice(place.track, *m->of(place.track).blocks[place.block], place.position));
    return slices;
}

std::optional<Slice> Trace::at(TrackId track, int depth, TraceTime time) const
{
    const TrackBlock* best = nullptr;
    std::uint32_t bestPosition = 0;
    const std::int64_t now = toNs(time);
    for (const auto& block : m->of(track).blocks) {
        if (now < block->firstBegin || now >= block->lastEnd)
            continue;
        for (const Row& row : block->rows.rows(depth)) {
            const RowSpan entries = block->rows.overlapping(block->columns, row, now, now + 1);
            if (entries.count() == 0)
                continue;
            const std::uint32_t position = block->rows.position(row, entries.end - 1);
            if (block->columns.end(position) <= now)
                continue;
            if (best && block->columns.begin[position] <= best->columns.begin[bestPosition])
                continue;
            best = block.get();
            bestPosition = position;
        }
    }
    return best ? std::optional{m->slice(track, *best, bestPosition)} : std::nullopt;
}

std::vector<CounterSample> Trace::counter(TrackId track) const
{
    const auto& log = m->of(track).samples;
    std::vector<CounterSample> samples;
    samples.reserve(log.size());
    for (std::size_t i = 0; i < log.size(); ++i)
        samples.push_back(log[i]);
    const auto earlier = [](const CounterSample& a, const CounterSample& b) { return a.time < b.time; };
    if (!std::is_sorted(samples.begin(), samples.end(), earlier))
        std::stable_sort(samples.begin(), samples.end(), earlier);
    return samples;
}

std::size_t Trace::memoryBytes() const
{
    std::size_t bytes = sizeof(Data) + m->strings.bytes() + m->textBytes + m->args.bytes() + m->given.bytes();
    for (const TrackSlices& slices : m->slices) {
        bytes += slices.samples.bytes();
        for (const auto& block : slices.blocks)
            bytes += block->bytes();
    }
    return bytes;
}

} // namespace profiler
