#include "profiler/model/trace_builder.h"
#include "profiler/model/trace_data.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace profiler {

namespace {

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
