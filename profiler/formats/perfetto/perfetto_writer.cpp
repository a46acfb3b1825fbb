#include "profiler/formats/perfetto/perfetto_writer.h"

#include "profiler/formats/output/arrows.h"
#include "profiler/formats/output/output_file.h"
#include "profiler/formats/perfetto/perfetto_fields.h"
#include "profiler/formats/perfetto/perfetto_tracks.h"
#include "profiler/formats/perfetto/proto.h"
#include "profiler/model/track_slices.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace profiler::formats::writers {

namespace {

using namespace perfetto;

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
