#include "profiler/model/trace_builder.h"

#include "profiler/model/bulk_import.h"
#include "profiler/model/flows.h"
#include "profiler/model/number_text.h"
#include "profiler/model/parallel.h"
#include "profiler/model/pools.h"
#include "profiler/model/trace_data.h"
#include "profiler/model/track_slices.h"
#include "profiler/model/track_store.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <limits>
#include <set>
#include <utility>

namespace profiler {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

RawSlice rawSlice(const Slice& slice, ArgsPool& args)
{
    RawSlice raw;
    raw.begin = toNs(slice.begin);
    raw.duration = slice.duration.count();
    raw.clampTimes();
    raw.link = slice.kind == ActivityKind::CpuOp ? std::max<std::int64_t>(slice.sequence, -1)
                                                 : static_cast<std::int64_t>(slice.correlation.value);
    raw.name = slice.name.value;
    raw.args = args.intern(slice.args);
    raw.kind = slice.kind;
    raw.depth = slice.depth == TraceBuilder::kUnknownDepth ? std::uint8_t{0} : slice.depth;
    raw.flags = slice.flags & static_cast<std::uint8_t>(~RawSlice::kInferredDepth);
    raw.external = slice.externalId;
    raw.setSource(slice.source);
    return raw;
}

/// The slices of a block that overlap [from, its end), sealed as a new block; null if there are none.
std::shared_ptr<const TrackBlock> endOfBlock(const TrackBlock& block, std::int64_t from)
{
    std::vector<RawSlice> kept;
    block.forEach(from, std::numeric_limits<std::int64_t>::max(), [&](std::uint32_t position) {
        kept.push_back(block.at(position));
        return true;
    });
    if (!std::is_sorted(kept.begin(), kept.end(), beginsBefore))
        std::sort(kept.begin(), kept.end(), beginsBefore);
    return kept.empty() ? nullptr : TrackBlock::make(kept);
}

TrackSlices endOfTrack(const TrackSlices& all, std::int64_t from)
{
    TrackSlices end;
    end.ordered = all.ordered;
    end.spilledSamples = all.spilledSamples;
    end.samples = all.samples;
    for (const BlockRef& ref : all.around(from, std::numeric_limits<std::int64_t>::max())) {
        if (ref.summary().firstBegin >= from) {
            end.push_back(ref);
            continue;
        }
        const BlockPin block = ref.pin();
        if (auto kept = block ? endOfBlock(*block, from) : nullptr)
            end.push_back(BlockRef{std::move(kept)});
    }
    for (const BlockRef& block : end.blocks)
        end.count += block.summary().count;
    return end;
}

} // namespace

struct TraceBuilder::State {
    std::vector<Track> tracks;
    std::vector<TrackStore> stores;                ///< by track
    std::vector<BulkTrack> bulk;                   ///< by track
    std::vector<std::vector<BlockRef>> sealed;     ///< by track: made by sealBulk(), or passed to setBlocks()
    std::vector<CounterLog> samples;               ///< by track
    std::map<std::uint32_t, BulkCounter> counters; ///< by track
    std::map<std::uint32_t, std::vector<SampleRef>> spilledSamples; ///< by track: parts that seal() left in the spill
    std::vector<Device> devices;
    std::map<std::string, std::string, std::less<>> metadata;
    CaptureStats stats;
    std::string format;
    std::vector<ExplicitFlow> flows;
    std::vector<Flow> knownFlows;
    std::shared_ptr<const ArgSource> argSource;
    StringPool strings;
    LaunchPool launches;
    ArgsPool args;
    std::int64_t latest = kNever; ///< the latest time seen on any track
    std::shared_ptr<SliceSpill> spill;
    std::uint64_t spillBeyond = 0, pending = 0; ///< bytes of slices in `bulk` and samples in `counters`
    bool bulkSealed = false;

    void spillBulk();
    void sealSpilled(unsigned threads);
    void sealCounters();
    void noteLost(std::uint64_t count, const char* what, const std::string& track);
    void sealBulk(unsigned threads, const std::stop_token& stop);
    TrackSlices slicesOf(std::size_t track) const;

    RawSlice take(const Slice& slice)
    {
        const RawSlice raw = rawSlice(slice, args);
        latest = std::max(latest, raw.end());
        return raw;
    }
};

TraceBuilder::TraceBuilder() : m(std::make_unique<State>()) {}
TraceBuilder::~TraceBuilder() = default;

StringId TraceBuilder::intern(std::string_view text)
{
    return m->strings.intern(text);
}

std::string_view TraceBuilder::string(StringId id) const
{
    return m->strings.text(id);
}

TrackId TraceBuilder::addTrack(Track track)
{
    track.id = TrackId{static_cast<std::uint32_t>(m->tracks.size())};
    m->tracks.push_back(std::move(track));
    m->stores.emplace_back();
    m->bulk.emplace_back();
    m->sealed.emplace_back();
    m->samples.emplace_back();
    return m->tracks.back().id;
}

const std::string& TraceBuilder::trackName(TrackId id) const
{
    return m->tracks.at(id.value).name;
}
void TraceBuilder::updateTrack(TrackId id, Track track)
{
    track.id = id;
    m->tracks.at(id.value) = std::move(track);
}
void TraceBuilder::addDevice(Device device)
{
    m->devices.push_back(std::move(device));
}
void TraceBuilder::setMetadata(std::string key, std::string value)
{
    m->metadata.insert_or_assign(std::move(key), std::move(value));
}
void TraceBuilder::setFormat(std::string format)
{
    m->format = std::move(format);
}
CaptureStats& TraceBuilder::captureStats()
{
    return m->stats;
}

void TraceBuilder::add(TrackId track, const Slice& slice)
{
    assert(slice.name.value < m->strings.size());
    assert(m->bulk.at(track.value).count() == 0);
    m->stores.at(track.value).add(m->take(slice), slice.depth == kUnknownDepth);
}

LaunchId TraceBuilder::internLaunch(const LaunchConfig& launch)
{
    return m->launches.intern(launch);
}

std::uint32_t TraceBuilder::internArgs(const SliceArgs& args)
{
    return m->args.intern(args);
}

std::shared_ptr<const PoolRemap> TraceBuilder::merge(const LocalPools& pools)
{
    return std::make_shared<const PoolRemap>(mergePools(pools, m->strings, m->launches, m->args));
}

void TraceBuilder::addMany(TrackId track, std::vector<RawSlice>&& slices, Depth depth,
                           std::shared_ptr<const PoolRemap> remap)
{
    assert(m->stores.at(track.value).count() == 0);
    m->pending += slices.size() * sizeof(RawSlice);
    m->bulk.at(track.value).add({std::move(slices), depth, std::move(remap)});
    if (m->spill && m->pending > m->spillBeyond)
        m->spillBulk();
}

void TraceBuilder::setSpill(std::shared_ptr<SliceSpill> spill, std::uint64_t budget)
{
    m->spill = std::move(spill);
    m->spillBeyond = budget;
}

void TraceBuilder::State::spillBulk()
{
    for (BulkTrack& track : bulk)
        track.spill(*spill);
    for (auto& [track, counter] : counters)
        counter.spill(*spill);
    pending = 0;
    if (spill->problem().empty())
        return;
    stats.notes.push_back(
        message<"trace.not_spilled", "The trace exceeds its memory limit because it cannot be moved to disk: {why}.">(
            {{"why", spill->problem()}}));
    spillBeyond = std::numeric_limits<std::uint64_t>::max();
}

void TraceBuilder::State::sealSpilled(unsigned threads)
{
    std::vector<std::size_t> lost(bulk.size());
    parallelFor(bulk.size(), threads, [&](std::size_t track) {
        if (bulk[track].spilled())
            sealed[track] = bulk[track].sealSpilled(tracks[track].id, *spill, lost[track]);
    });
    for (std::size_t track = 0; track < lost.size(); ++track)
        noteLost(lost[track], "slices", tracks[track].name);
}

void TraceBuilder::State::noteLost(std::uint64_t count, const char* what, const std::string& track)
{
    if (count == 0)
        return;
    stats.dropped += count;
    stats.notes.push_back(message<"trace.lost", "{count} {what} of {track} were lost: {why}.">(
        {{"count", count, countText(count)}, {"what", what}, {"track", track}, {"why", spill->problem()}}));
}

void TraceBuilder::State::sealCounters()
{
    for (auto& [track, counter] : counters) {
        auto done = counter.seal(spill.get(), [&log = samples[track]](const CounterSample& s) { log.push_back(s); });
        spilledSamples[track] = std::move(done.spilled);
        noteLost(done.lost, "values", tracks[track].name);
    }
    counters.clear();
}

void TraceBuilder::setBlocks(TrackId track, std::vector<BlockRef> blocks)
{
    assert(m->stores.at(track.value).count() == 0 && m->bulk.at(track.value).count() == 0);
    m->sealed.at(track.value) = std::move(blocks);
}

void TraceBuilder::setSamples(TrackId counter, std::vector<SampleRef> parts)
{
    m->spilledSamples[counter.value] = std::move(parts);
}

void TraceBuilder::addFlows(std::vector<Flow> flows)
{
    m->knownFlows.insert(m->knownFlows.end(), flows.begin(), flows.end());
}

void TraceBuilder::addFlow(FlowKind kind, FlowEnd from, FlowEnd to)
{
    m->flows.push_back({kind, from, to});
}

void TraceBuilder::setArgSource(std::shared_ptr<const ArgSource> source)
{
    m->argSource = std::move(source);
}

void TraceBuilder::begin(TrackId track, const Slice& slice)
{
    assert(slice.name.value < m->strings.size());
    Slice begun = slice;
    begun.duration = Nanoseconds{0};
    m->stores.at(track.value).open(m->take(begun), slice.depth == kUnknownDepth);
}

void TraceBuilder::addSample(TrackId counter, CounterSample sample)
{
    m->samples.at(counter.value).push_back(sample);
    m->latest = std::max(m->latest, std::min(toNs(sample.time), RawSlice::kTimeLimit));
}

void TraceBuilder::addSamples(TrackId counter, std::vector<CounterSample>&& samples, SampleMeaning meaning)
{
    assert(m->samples.at(counter.value).size() == 0);
    for (const CounterSample& sample : samples)
        m->latest = std::max(m->latest, std::min(toNs(sample.time), RawSlice::kTimeLimit));
    m->pending += samples.size() * sizeof(CounterSample);
    m->counters[counter.value].add(std::move(samples), meaning);
    if (m->spill && m->pending > m->spillBeyond)
        m->spillBulk();
}

/// Sorts all bulk tracks, then seals their blocks, using several threads.
void TraceBuilder::State::sealBulk(unsigned threads, const std::stop_token& stop)
{
    for (BulkTrack& track : bulk)
        track.endPreview();
    sealSpilled(threads);
    sealCounters();
    struct Task {
        std::size_t track, block;
    };
    std::vector<std::size_t> order(bulk.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::sort(order.begin(), order.end(),
              [this](std::size_t a, std::size_t b) { return bulk[a].count() > bulk[b].count(); });
    parallelFor(order.size(), threads, [&](std::size_t i) {
        if (!stop.stop_requested())
            bulk[order[i]].sort();
    });
    if (stop.stop_requested())
        return;
    std::vector<BlockList> made(bulk.size());
    std::vector<Task> tasks;
    std::vector<std::atomic<std::size_t>> waiting(bulk.size());
    for (std::size_t track = 0; track < bulk.size(); ++track) {
        made[track].resize(bulk[track].blockCount());
        waiting[track] = bulk[track].blockCount();
        for (std::size_t block = 0; block < bulk[track].blockCount(); ++block)
            tasks.push_back({track, block});
    }
    parallelFor(tasks.size(), threads, [&](std::size_t i) {
        const auto [track, block] = tasks[i];
        if (stop.stop_requested())
            return;
        made[track][block] = bulk[track].seal(block);
        if (--waiting[track] == 0)
            bulk[track].release();
    });
    if (stop.stop_requested())
        return;
    for (std::size_t track = 0; track < made.size(); ++track) {
        for (auto& block : made[track])
            sealed[track].emplace_back(std::move(block));
    }
    for (const auto& blocks : sealed) {
        for (const BlockRef& block : blocks)
            latest = std::max(latest, block.summary().lastEnd);
    }
}

TrackSlices TraceBuilder::State::slicesOf(std::size_t track) const
{
    TrackSlices slices;
    slices.ordered = !sealed[track].empty();
    for (const BlockRef& block : bulk[track].preview())
        slices.push_back(block);
    for (const BlockRef& block : sealed[track])
        slices.push_back(block);
    if (!slices.ordered)
        for (auto& block : stores[track].blocks(latest))
            slices.push_back(BlockRef{std::move(block)});
    for (const BlockRef& block : slices.blocks)
        slices.count += block.summary().count;
    if (const auto spilled = spilledSamples.find(static_cast<std::uint32_t>(track)); spilled != spilledSamples.end())
        slices.spilledSamples = spilled->second;
    slices.samples = samples[track].view();
    return slices;
}

std::size_t TraceBuilder::sealPreview()
{
    std::size_t bytes = 0;
    for (BulkTrack& track : m->bulk)
        bytes += track.sealPreview();
    return bytes;
}

void TraceBuilder::seal(unsigned threads, const std::stop_token& stop)
{
    if (!std::exchange(m->bulkSealed, true))
        m->sealBulk(threads, stop);
}

Overlaps TraceBuilder::overlaps(TrackId track) const
{
    return m->bulk.at(track.value).overlaps();
}

std::shared_ptr<const Trace> TraceBuilder::snapshot()
{
    auto trace = std::make_shared<Trace>();
    Trace::Data& data = *trace->m;
    data.tracks = m->tracks;
    data.devices = m->devices;
    data.metadata = m->metadata;
    data.stats = m->stats;
    data.format = m->format;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = kNever;
    for (std::size_t i = 0; i < m->stores.size(); ++i) {
        m->stores[i].seal();
        TrackSlices slices = m->slicesOf(i);
        for (const BlockRef& block : slices.blocks) {
            first = std::min(first, block.summary().firstBegin);
            last = std::max(last, block.summary().lastEnd);
        }
        data.count += slices.count;
        data.slices.push_back(std::move(slices));
    }
    if (data.count > 0)
        data.range = {traceTime(first), traceTime(last)};
    data.strings = m->strings.view();
    data.textBytes = m->strings.textBytes();
    data.args = m->args.view();
    data.launches = m->launches.view();
    data.argSource = m->argSource;
    return trace;
}

std::shared_ptr<const Trace> TraceBuilder::finish(unsigned threads, const std::stop_token& stop)
{
    seal(threads, stop);
    if (stop.stop_requested()) {
        m = std::make_unique<State>();
        return nullptr;
    }
    for (TrackStore& store : m->stores) {
        store.closeOpen(m->latest);
        store.compact();
    }
    auto trace = std::const_pointer_cast<Trace>(snapshot());
    trace->m->explicitFlows = ExplicitFlows{*trace, m->flows, std::move(m->knownFlows), threads, stop};
    if (const std::size_t count = trace->m->explicitFlows.unbound(); count > 0) {
        trace->m->stats.unmatched += count;
        trace->m->stats.notes.push_back(
            message<"trace.unbound_arrows",
                    "{count} {count|arrow starts or ends|arrows start or end} outside any slice: "
                    "{count|it is|they are} not shown.">({{"count", count, countText(count)}}));
    }
    m = std::make_unique<State>();
    return stop.stop_requested() ? nullptr : trace;
}

void TraceBuilder::copyFrame(const Trace& trace, Trace& part)
{
    const Trace::Data& all = *trace.m;
    Trace::Data& data = *part.m;
    data.tracks = all.tracks;
    data.devices = all.devices;
    data.metadata = all.metadata;
    data.stats = all.stats;
    data.format = all.format;
    data.strings = all.strings;
    data.textBytes = all.textBytes;
    data.args = all.args;
    data.launches = all.launches;
    data.argSource = all.argSource;
}

std::shared_ptr<const Trace> TraceBuilder::endOf(const Trace& trace, TraceTime from)
{
    auto end = std::make_shared<Trace>();
    copyFrame(trace, *end);
    const Trace::Data& all = *trace.m;
    Trace::Data& data = *end->m;
    for (const TrackSlices& slices : all.slices) {
        data.slices.push_back(endOfTrack(slices, toNs(from)));
        data.count += data.slices.back().count;
    }
    if (data.count > 0)
        data.range = {std::max(from, all.range.begin), all.range.end};
    return end;
}

std::shared_ptr<const Trace> TraceBuilder::ofTracks(const Trace& trace, const std::vector<bool>& wanted)
{
    auto part = std::make_shared<Trace>();
    copyFrame(trace, *part);
    const Trace::Data& all = *trace.m;
    Trace::Data& data = *part->m;
    std::set<DeviceId> devices;
    std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < all.slices.size(); ++i) {
        const bool takes = i < wanted.size() && wanted[i];
        data.slices.push_back(takes ? all.slices[i] : TrackSlices{});
        if (!takes)
            continue;
        data.count += all.slices[i].count;
        if (all.tracks[i].kind == TrackKind::Stream)
            devices.insert(all.tracks[i].device);
        for (const BlockRef& block : all.slices[i].blocks) {
            begin = std::min(begin, block.summary().firstBegin);
            end = std::max(end, block.summary().lastEnd);
        }
    }
    std::erase_if(data.devices, [&](const Device& device) { return !devices.contains(device.id); });
    if (data.count > 0)
        data.range = {traceTime(begin), traceTime(end)};
    return part;
}

} // namespace profiler
