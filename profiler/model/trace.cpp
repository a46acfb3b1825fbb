#include "profiler/model/trace.h"

#include "profiler/model/number_text.h"
#include "profiler/model/trace_data.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <string>
#include <tuple>

namespace profiler {
namespace {

SlicePlace placeOf(TrackId track, const TrackBlock& block, std::uint32_t blockIndex, std::uint32_t position)
{
    const auto& columns = block.columns;
    return {columns.begin(position), columns.duration(position), track, blockIndex, position, columns.depth(position)};
}

void sortByBegin(std::vector<SlicePlace>& places)
{
    const auto before = [](const SlicePlace& a, const SlicePlace& b) {
        return std::tuple{a.begin, -a.duration, a.depth} < std::tuple{b.begin, -b.duration, b.depth};
    };
    if (!std::is_sorted(places.begin(), places.end(), before))
        std::stable_sort(places.begin(), places.end(), before);
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

const ArgSource* Trace::argSource() const
{
    return m->argSource.get();
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

Slice Trace::Data::slice(TrackId track, const RawSlice& raw) const
{
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
    if (const auto place = m->of(id.track).find(id.ordinal))
        return m->slice(id.track, *place->block, place->position);
    // An id of another trace, or of a part of the file that can no longer be read.
    Slice unknown;
    unknown.id = id;
    return unknown;
}

void Trace::forEach(TrackId track, TimeRange window, const std::function<bool(const Slice&)>& visit) const
{
    for (const BlockRef& ref : m->of(track).around(toNs(window.begin), toNs(window.end))) {
        if (!ref.summary().overlaps(toNs(window.begin), toNs(window.end)))
            continue;
        const BlockPin block = ref.pin();
        const auto visitAt = [&](std::uint32_t position) { return visit(m->slice(track, *block, position)); };
        if (block && !block->forEach(toNs(window.begin), toNs(window.end), visitAt))
            return;
    }
}

std::size_t Trace::beginIn(TrackId track, TimeRange window, std::size_t most) const
{
    const std::int64_t from = toNs(window.begin), to = toNs(window.end);
    std::size_t count = 0;
    std::vector<const BlockRef*> cut; // examined last, because they may have to be read from the file
    for (const BlockRef& ref : m->of(track).around(from, to)) {
        if (!ref.summary().overlaps(from, to))
            continue;
        if (from <= ref.summary().firstBegin && ref.summary().lastEnd < to)
            count += ref.summary().count;
        else
            cut.push_back(&ref);
        if (count >= most)
            return most;
    }
    for (const BlockRef* ref : cut) {
        if (const BlockPin block = ref->pin())
            count += block->columns.firstFrom(to) - block->columns.firstFrom(from);
    }
    return std::min(count, most);
}

std::vector<Slice> Trace::Data::slicesAt(const std::vector<SlicePlace>& places) const
{
    std::vector<Slice> found;
    found.reserve(places.size());
    const BlockRef* last = nullptr;
    BlockPin pin;
    for (const SlicePlace& place : places) {
        const BlockRef& ref = of(place.track).blocks[place.block];
        if (&ref != last)
            pin = ref.pin();
        last = &ref;
        if (pin)
            found.push_back(slice(place.track, *pin, place.position));
    }
    return found;
}

std::vector<Slice> Trace::sorted(TrackId track) const
{
    const TrackSlices& of = m->of(track);
    std::vector<SlicePlace> places;
    places.reserve(of.count);
    for (std::uint32_t i = 0; i < of.blocks.size(); ++i) {
        const BlockPin block = of.blocks[i].pin();
        for (std::uint32_t position = 0; block && position < block->size(); ++position)
            places.push_back(placeOf(track, *block, i, position));
    }
    sortByBegin(places);
    return m->slicesAt(places);
}

std::vector<Slice> Trace::ofKind(ActivityKind kind) const
{
    std::vector<SlicePlace> places;
    for (const Track& track : m->tracks) {
        const auto& blocks = m->of(track.id).blocks;
        for (std::uint32_t i = 0; i < blocks.size(); ++i) {
            if (!blocks[i].summary().holds(kind))
                continue;
            const BlockPin block = blocks[i].pin();
            for (std::uint32_t position = 0; block && position < block->size(); ++position) {
                if (block->columns.kind(position) == kind)
                    places.push_back(placeOf(track.id, *block, i, position));
            }
        }
    }
    sortByBegin(places);
    return m->slicesAt(places);
}

std::optional<Slice> Trace::at(TrackId track, int depth, TraceTime time) const
{
    std::optional<RawSlice> best;
    const std::int64_t now = std::min(toNs(time), 2 * RawSlice::kTimeLimit); // no slice is later
    for (const BlockRef& ref : m->of(track).around(now, now + 1)) {
        if (now < ref.summary().firstBegin || now >= ref.summary().lastEnd)
            continue;
        BlockPin block;
        for (const Row& row : ref.summary().rows.rows(depth)) {
            if (row.begin > now || row.end <= now)
                continue;
            block = block ? block : ref.pin();
            if (!block)
                break;
            const std::uint32_t next = block->rows.entries(block->columns, row).firstFrom(now + 1, row.count / 2);
            const std::uint32_t position = block->rows.position(row, next - 1);
            if (block->columns.end(position) > now && (!best || block->columns.begin(position) > best->begin))
                best = block->at(position);
        }
    }
    return best ? std::optional{m->slice(track, *best)} : std::nullopt;
}

std::vector<CounterSample> Trace::counter(TrackId track) const
{
    const auto& log = m->of(track).samples;
    std::vector<CounterSample> samples;
    std::size_t spilled = 0;
    for (const SampleRef& part : m->of(track).spilledSamples)
        spilled += part.count;
    samples.reserve(spilled + log.size());
    for (const SampleRef& part : m->of(track).spilledSamples)
        if (const auto some = part.source->samples(part.number))
            samples.insert(samples.end(), some->begin(), some->end());
    for (std::size_t i = 0; i < log.size(); ++i)
        samples.push_back(log[i]);
    const auto earlier = [](const CounterSample& a, const CounterSample& b) { return a.time < b.time; };
    if (!std::is_sorted(samples.begin(), samples.end(), earlier))
        std::stable_sort(samples.begin(), samples.end(), earlier);
    return samples;
}

Unread Trace::unread() const
{
    std::set<const BlockSource*> sources;
    for (const TrackSlices& slices : m->slices) {
        for (const BlockRef& block : slices.blocks)
            if (block.source())
                sources.insert(block.source());
        for (const SampleRef& part : slices.spilledSamples)
            sources.insert(part.source.get());
    }
    Unread all;
    for (const BlockSource* source : sources) {
        Unread some = source->unread();
        all.slices += some.slices;
        all.samples += some.samples;
        all.why = some.why.empty() ? all.why : std::move(some.why);
    }
    return all;
}

CaptureStats Trace::losses() const
{
    CaptureStats stats = captureStats();
    const Unread missing = unread();
    if (missing.slices > 0)
        stats.notes.push_back(
            message<"trace.unread_slices", "{count} slices could not be read and are missing: {why}.">(
                {{"count", missing.slices, countText(missing.slices)}, {"why", missing.why}}));
    if (missing.samples > 0)
        stats.notes.push_back(
            message<"trace.unread_samples", "{count} counter values could not be read and are missing: {why}.">(
                {{"count", missing.samples, countText(missing.samples)}, {"why", missing.why}}));
    return stats;
}

const TrackSlices& Trace::slicesOf(TrackId track) const
{
    return m->of(track);
}

Slice Trace::sliceAt(TrackId track, const TrackBlock& block, std::uint32_t position) const
{
    return m->slice(track, block, position);
}

std::uint32_t Trace::argsCount() const
{
    return static_cast<std::uint32_t>(m->args.size());
}

SliceArgs Trace::args(std::uint32_t number) const
{
    return ArgsPool::resolve(m->args, number);
}

LaunchConfig Trace::launch(LaunchId id) const
{
    return LaunchPool::resolve(m->launches, id);
}

std::uint32_t Trace::launchCount() const
{
    return static_cast<std::uint32_t>(m->launches.size());
}

std::size_t Trace::memoryBytes() const
{
    std::size_t bytes = sizeof(Data) + m->strings.bytes() + m->textBytes + m->args.bytes() + m->launches.bytes() +
                        m->explicitFlows.bytes();
    for (const TrackSlices& slices : m->slices) {
        bytes += slices.samples.bytes() + slices.spilledSamples.capacity() * sizeof(SampleRef);
        bytes += slices.blocks.capacity() * sizeof(BlockRef);
        for (const BlockRef& block : slices.blocks)
            bytes += block.bytes();
    }
    return bytes;
}

} // namespace profiler
