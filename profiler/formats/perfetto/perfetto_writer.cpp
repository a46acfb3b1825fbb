#include "profiler/formats/perfetto/perfetto_writer.h"

#include "profiler/formats/output/arrows.h"
#include "profiler/formats/output/output_file.h"
#include "profiler/model/track_slices.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profiler::formats::writers {

/// Field numbers of the Perfetto messages that we write. Source: protos/perfetto/trace in Perfetto's repository.
namespace perfetto {

inline constexpr std::uint32_t kTracePacket = 1; // of Trace

namespace packet {
inline constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kSequenceFlags = 13,
                               kTrackDescriptor = 60;
inline constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2; // of kSequenceFlags
} // namespace packet

namespace track_descriptor {
inline constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8,
                               kChildOrdering = 11, kRank = 12;
inline constexpr std::uint32_t kPid = 1, kTid = 2, kSortIndex = 3, kThreadName = 5,
                               kProcessName = 6;             // of kProcess and kThread
inline constexpr std::uint32_t kUnit = 3, kUnitName = 6;     // of kCounter
inline constexpr std::uint64_t kExplicit = 3;                // of kChildOrdering
inline constexpr std::uint64_t kUnspecified = 0, kBytes = 3; // of kUnit
} // namespace track_descriptor

namespace track_event {
inline constexpr std::uint32_t kCategory = 3, kAnnotation = 4, kType = 9, kName = 10, kTrack = 11, kCounterValue = 44,
                               kFlow = 47, kEndingFlow = 48;
inline constexpr std::uint64_t kBegin = 1, kEnd = 2, kCounter = 4;            // of kType
inline constexpr std::uint32_t kAnnotationName = 10, kInteger = 4, kText = 6; // of kAnnotation
} // namespace track_event

namespace interned {
inline constexpr std::uint32_t kCategories = 1, kNames = 2;
inline constexpr std::uint32_t kId = 1, kText = 2; // of either
} // namespace interned

} // namespace perfetto

namespace {

using namespace perfetto;
namespace field = perfetto::track_descriptor;

/// Appends fields of a protocol buffer message. Source: protobuf.dev/programming-guides/encoding.
class Proto {
public:
    void number(std::uint32_t field, std::uint64_t value)
    {
        varint(std::uint64_t{field} << 3);
        varint(value);
    }
    void text(std::uint32_t field, std::string_view value)
    {
        varint(std::uint64_t{field} << 3 | 2);
        varint(value.size());
        m_bytes += value;
    }
    void message(std::uint32_t field, const Proto& value) { text(field, value.m_bytes); }
    void fixed(std::uint32_t field, std::uint64_t value)
    {
        varint(std::uint64_t{field} << 3 | 1);
        for (int i = 0; i < 8; ++i)
            m_bytes += static_cast<char>(value >> (8 * i));
    }
    void real(std::uint32_t field, double value) { fixed(field, std::bit_cast<std::uint64_t>(value)); }
    void clear() { m_bytes.clear(); }
    [[nodiscard]] const std::string& bytes() const { return m_bytes; }

private:
    void varint(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7)
            m_bytes += static_cast<char>(value | 0x80);
        m_bytes += static_cast<char>(value);
    }
    std::string m_bytes;
};

/// The tracks of a trace as Perfetto TrackDescriptors: threads under their process; streams and device counters under
/// their device. Uses the order requested by the original file.
class PerfettoTracks {
public:
    explicit PerfettoTracks(const Trace& trace);
    /// Parents before their children.
    [[nodiscard]] const std::vector<Proto>& descriptors() const { return m_descriptors; }
    [[nodiscard]] std::uint64_t of(TrackId track) const { return track.value + 1; }
    /// Creates another track of the same name for overlapping slices; writes its descriptor to `descriptor`.
    std::uint64_t overlapTrack(TrackId track, Proto& descriptor);

private:
    std::uint64_t processOf(const Track& track);
    std::uint64_t deviceOf(const Track& track);
    std::uint64_t group(std::string_view name, std::int32_t sortIndex);

    const Trace& m_trace;
    std::vector<std::uint64_t> m_ranks; ///< by track: order among siblings
    std::vector<Proto> m_descriptors;
    std::vector<std::uint64_t> m_parents;                         ///< by track
    std::map<std::int64_t, std::uint64_t> m_processes, m_devices; ///< uuid by number
    std::uint64_t m_next;                                         ///< next uuid
};

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

/// Slices of one row that nest properly, and the ends of its open slices.
struct Lane {
    std::uint64_t track = 0;
    std::vector<std::int64_t> ends;
};

class Writer {
public:
    Writer(const Trace& trace, OutputFile& file, const WriteOptions& options)
        : m_trace(trace), m_file(file), m_walk(trace, options), m_arrows(trace), m_tracks(trace),
          m_base(std::min<std::int64_t>(firstTime(trace), 0)), m_named(trace.stringCount()),
          m_categorised(kActivityKinds)
    {
    }

    /// False if it was stopped or the disk is full.
    bool write()
    {
        for (const Proto& descriptor : m_tracks.descriptors()) {
            m_packet.clear();
            m_packet.message(packet::kTrackDescriptor, descriptor);
            finishPacket();
        }
        for (const Track& track : m_trace.tracks())
            if (!(track.kind == TrackKind::Counter ? writeCounter(track) : writeTrack(track)))
                return false;
        return true;
    }

private:
    void finishPacket()
    {
        m_packet.number(packet::kSequence, 1);
        m_packet.number(packet::kSequenceFlags, std::exchange(m_flags, packet::kNeedsState));
        m_framed.clear();
        m_framed.message(kTracePacket, m_packet);
        m_file.write(m_framed.bytes());
    }

    void beginPacket(std::int64_t time)
    {
        m_packet.clear();
        m_packet.number(packet::kTimestamp, static_cast<std::uint64_t>(time - m_base));
    }

    bool writeCounter(const Track& track)
    {
        for (const CounterSample& sample : m_trace.counter(track.id)) {
            beginPacket(toNs(sample.time));
            m_event.clear();
            m_event.number(track_event::kType, track_event::kCounter);
            m_event.number(track_event::kTrack, m_tracks.of(track.id));
            m_event.real(track_event::kCounterValue, sample.value);
            m_packet.message(packet::kTrackEvent, m_event);
            finishPacket();
        }
        return !m_file.failed() && !m_walk.stopped();
    }

    bool writeTrack(const Track& track)
    {
        std::vector<Lane> lanes;
        bool on = true;
        m_laneCount = 0;
        const auto write = [&](const Slice& slice) {
            Lane& lane = laneFor(track, slice, lanes);
            writeBegin(slice, lane.track);
            lane.ends.push_back(toNs(slice.end()));
            on = m_walk.step() && !m_file.failed();
            return on;
        };
        if (m_trace.slicesOf(track.id).ordered) {
            m_trace.forEach(track.id, kAllTime, write);
        } else { // the blocks are in the order of ends, so an outer slice may come after its inner ones
            const std::vector<Slice> sorted = m_trace.sorted(track.id);
            for (auto slice = sorted.begin(); on && slice != sorted.end(); ++slice)
                write(*slice);
        }
        closeAll(lanes);
        return on;
    }

    void closeAll(std::vector<Lane>& lanes)
    {
        for (Lane& lane : lanes)
            closeUntil(lane, std::numeric_limits<std::int64_t>::max());
    }

    void closeUntil(Lane& lane, std::int64_t time)
    {
        for (; !lane.ends.empty() && lane.ends.back() <= time; lane.ends.pop_back()) {
            beginPacket(lane.ends.back());
            m_event.clear();
            m_event.number(track_event::kType, track_event::kEnd);
            m_event.number(track_event::kTrack, lane.track);
            m_packet.message(packet::kTrackEvent, m_event);
            finishPacket();
        }
    }

    /// The first lane in which the slice fits into the innermost open slice; a new lane if there is none.
    Lane& laneFor(const Track& track, const Slice& slice, std::vector<Lane>& lanes)
    {
        for (Lane& lane : lanes) {
            closeUntil(lane, toNs(slice.begin));
            if (lane.ends.empty() || toNs(slice.end()) <= lane.ends.back())
                return lane;
        }
        lanes.push_back({m_tracks.of(track.id), {}});
        if (m_laneCount++ > 0) {
            m_packet.clear();
            Proto descriptor;
            lanes.back().track = m_tracks.overlapTrack(track.id, descriptor);
            m_packet.message(packet::kTrackDescriptor, descriptor);
            finishPacket();
        }
        return lanes.back();
    }

    void intern(std::uint32_t list, std::uint64_t id, std::string_view text)
    {
        Proto entry;
        entry.number(interned::kId, id);
        entry.text(interned::kText, text);
        m_interned.message(list, entry);
    }

    void annotate(std::string_view name, std::int64_t value)
    {
        if (value == 0)
            return;
        m_annotation.clear();
        m_annotation.text(track_event::kAnnotationName, name);
        m_annotation.number(track_event::kInteger, static_cast<std::uint64_t>(value));
        m_event.message(track_event::kAnnotation, m_annotation);
    }

    void annotate(std::string_view name, StringId text)
    {
        if (text.value == 0)
            return;
        m_annotation.clear();
        m_annotation.text(track_event::kAnnotationName, name);
        m_annotation.text(track_event::kText, m_trace.string(text));
        m_event.message(track_event::kAnnotation, m_annotation);
    }

    void annotate(const LaunchConfig& launch)
    {
        constexpr std::array<std::string_view, 3> kGrid = {"grid x", "grid y", "grid z"},
                                                  kBlock = {"block x", "block y", "block z"};
        for (std::size_t i = 0; i < kGrid.size(); ++i) {
            annotate(kGrid[i], std::int64_t{launch.grid[i]});
            annotate(kBlock[i], std::int64_t{launch.block[i]});
        }
        annotate("registers per thread", std::int64_t{launch.registers.value_or(0)});
        annotate("shared memory", std::int64_t{launch.sharedMemory.value_or(0)});
    }

    void writeBegin(const Slice& slice, std::uint64_t track)
    {
        m_interned.clear();
        const auto kind = static_cast<std::size_t>(slice.kind);
        if (std::exchange(m_named[slice.name.value], 1) == 0)
            intern(interned::kNames, slice.name.value + 1, m_trace.name(slice));
        if (std::exchange(m_categorised[kind], 1) == 0)
            intern(interned::kCategories, kind + 1, activityName(slice.kind));
        m_event.clear();
        m_event.number(track_event::kType, track_event::kBegin);
        m_event.number(track_event::kTrack, track);
        m_event.number(track_event::kName, slice.name.value + 1);
        m_event.number(track_event::kCategory, kind + 1);
        for (const ArrowEnd& end : m_arrows.at(slice, m_ends))
            m_event.fixed(end.begins ? track_event::kFlow : track_event::kEndingFlow, end.id);
        annotate("correlation", static_cast<std::int64_t>(slice.correlation.value));
        annotate("bytes", slice.args.bytes);
        annotate("value", slice.args.value);
        annotate("shapes", slice.args.shapes);
        annotate("types", slice.args.types);
        if (slice.args.launch.value != 0)
            annotate(m_trace.launch(slice.args.launch));
        beginPacket(toNs(slice.begin));
        if (!m_interned.bytes().empty())
            m_packet.message(packet::kInterned, m_interned);
        m_packet.message(packet::kTrackEvent, m_event);
        finishPacket();
    }

    const Trace& m_trace;
    OutputFile& m_file;
    Walk m_walk;
    Arrows m_arrows;
    PerfettoTracks m_tracks;
    std::int64_t m_base;
    std::vector<char> m_named, m_categorised; ///< texts that are already in the file
    std::size_t m_laneCount = 0;              ///< of the current track
    std::uint64_t m_flags = packet::kStateCleared;
    std::vector<ArrowEnd> m_ends;
    Proto m_packet, m_framed, m_event, m_interned, m_annotation;
};

} // namespace

Result<void> writePerfetto(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
{
    return writeFile(trace, path, options, [&](OutputFile& file) { return Writer(trace, file, options).write(); });
}

} // namespace profiler::formats::writers
