#include "profiler/formats/perfetto/perfetto_tracks.h"

#include "profiler/formats/perfetto/perfetto_fields.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace profiler::formats::writers {

namespace {

namespace field = perfetto::track_descriptor;

bool isThread(const Track& track)
{
    const bool host =
        track.kind == TrackKind::Thread || track.kind == TrackKind::MainThread || track.kind == TrackKind::LoaderWorker;
    return host && track.pid > 0 && track.tid > 0;
}

/// Protobuf encodes an int32 like an int64.
std::uint64_t signedNumber(std::int32_t value)
{
    return static_cast<std::uint64_t>(std::int64_t{value});
}

/// By track: its position in the order requested by the original file.
std::vector<std::uint64_t> ranksOf(std::span<const Track> tracks)
{
    std::vector<std::uint32_t> order(tracks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return tracks[a].sortIndex < tracks[b].sortIndex; });
    std::vector<std::uint64_t> ranks(tracks.size());
    for (std::uint64_t place = 0; place < order.size(); ++place)
        ranks[order[place]] = place;
    return ranks;
}

} // namespace

PerfettoTracks::PerfettoTracks(const Trace& trace)
    : m_trace(trace), m_ranks(ranksOf(trace.tracks())), m_next(trace.tracks().size() + 1)
{
    std::set<std::pair<std::int64_t, std::int64_t>> threads;
    for (const Track& track : trace.tracks()) {
        const bool ofDevice = track.kind == TrackKind::Stream || track.kind == TrackKind::Annotation;
        const std::uint64_t parent = ofDevice ? deviceOf(track) : processOf(track);
        m_parents.push_back(parent);
        Proto descriptor;
        descriptor.number(field::kUuid, of(track.id));
        descriptor.number(field::kParent, parent);
        descriptor.number(field::kRank, m_ranks[track.id.value]);
        // Perfetto would merge two tracks of one thread, so the second one becomes a plain track.
        if (isThread(track) && threads.emplace(track.pid, track.tid).second) {
            Proto identity;
            identity.number(field::kPid, static_cast<std::uint64_t>(track.pid));
            identity.number(field::kTid, static_cast<std::uint64_t>(track.tid));
            if (track.sortIndex != 0)
                identity.number(field::kSortIndex, signedNumber(track.sortIndex));
            identity.text(field::kThreadName, track.name);
            descriptor.message(field::kThread, identity);
        } else {
            descriptor.text(field::kName, track.name);
        }
        if (track.kind == TrackKind::Counter) {
            Proto counter;
            const bool bytes = track.unit == "bytes";
            counter.number(field::kUnit, bytes ? field::kBytes : field::kUnspecified);
            if (!bytes && !track.unit.empty())
                counter.text(field::kUnitName, track.unit);
            descriptor.message(field::kCounter, counter);
        }
        m_descriptors.push_back(std::move(descriptor));
    }
}

std::uint64_t PerfettoTracks::group(std::string_view name, std::int32_t sortIndex)
{
    Proto descriptor;
    descriptor.number(field::kUuid, m_next);
    descriptor.text(field::kName, name);
    descriptor.number(field::kChildOrdering, field::kExplicit);
    if (sortIndex != 0)
        descriptor.number(field::kRank, signedNumber(sortIndex));
    m_descriptors.push_back(std::move(descriptor));
    return m_next++;
}

std::uint64_t PerfettoTracks::processOf(const Track& track)
{
    const auto [process, isNew] = m_processes.try_emplace(track.pid);
    if (!isNew)
        return process->second;
    if (track.pid <= 0) // Perfetto uses 0 for the kernel's idle process
        return process->second =
                   group(track.processName.empty() ? "process" : track.processName, track.processSortIndex);
    Proto descriptor, identity;
    identity.number(field::kPid, static_cast<std::uint64_t>(track.pid));
    if (track.processSortIndex != 0)
        identity.number(field::kSortIndex, signedNumber(track.processSortIndex));
    identity.text(field::kProcessName,
                  track.processName.empty() ? fmt::format("process {}", track.pid) : track.processName);
    descriptor.number(field::kUuid, m_next);
    descriptor.message(field::kProcess, identity);
    descriptor.number(field::kChildOrdering, field::kExplicit);
    m_descriptors.push_back(std::move(descriptor));
    return process->second = m_next++;
}

std::uint64_t PerfettoTracks::deviceOf(const Track& track)
{
    const auto [known, isNew] = m_devices.try_emplace(track.device.value);
    if (!isNew)
        return known->second;
    const auto devices = m_trace.devices();
    const auto named =
        std::find_if(devices.begin(), devices.end(), [&](const Device& device) { return device.id == track.device; });
    const std::string name = named == devices.end() || named->name.empty() ? "" : ": " + named->name;
    return known->second = group(fmt::format("device {}{}", track.device.value, name), track.processSortIndex);
}

std::uint64_t PerfettoTracks::overlapTrack(TrackId track, Proto& descriptor)
{
    descriptor.number(field::kUuid, m_next);
    descriptor.number(field::kParent, m_parents[track.value]);
    descriptor.text(field::kName, m_trace.track(track).name);
    descriptor.number(field::kRank, m_ranks[track.value]);
    return m_next++;
}

} // namespace profiler::formats::writers
