#include "profiler/formats/pytorch/pytorch_json_writer.h"

#include "profiler/formats/output/arrows.h"
#include "profiler/formats/output/output_file.h"
#include "profiler/formats/pytorch/json_args.h"
#include "profiler/formats/pytorch/json_text.h"
#include "profiler/formats/pytorch/own_keys.h"
#include "profiler/model/number_text.h"

#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace profiler::formats::writers {

namespace {

using json::kMadeUpIds;

/// The process and thread of a track's events in the file. As in Kineto's files, a device track is a thread of the
/// device.
struct Address {
    std::int64_t pid = 0, tid = 0;
    friend auto operator<=>(const Address&, const Address&) = default;
};

std::vector<Address> addresses(const Trace& trace)
{
    std::vector<Address> result;
    std::set<Address> hosts;
    std::map<std::string, std::int64_t> processes; // processes with a name but no number
    std::set<std::tuple<Address, TrackKind, std::string>> ofDevices;
    for (const Track& track : trace.tracks()) {
        const std::int64_t madeUp = kMadeUpIds + track.id.value;
        Address address{track.pid, track.tid != 0 ? track.tid : madeUp};
        if (track.pid == 0)
            address.pid = processes.try_emplace(track.processName, kMadeUpIds + std::ssize(processes)).first->second;
        if (isOfDevice(track)) {
            address = {track.device.value, track.stream.value};
            // Annotations share their stream's row. Streams with equal numbers of two processes do not share a row.
            const std::string name = track.kind == TrackKind::Stream ? std::string() : track.name;
            if (!ofDevices.emplace(address, track.kind, name).second)
                address.tid = madeUp;
        } else if (!hosts.insert(address).second) {
            address.tid = madeUp;
        }
        result.push_back(address);
    }
    return result;
}

std::string_view arrowCategory(FlowKind kind)
{
    return kind == FlowKind::Launch ? "ac2g" : kind == FlowKind::ForwardBackward ? "fwdbwd" : json::kFlow;
}

class Writer {
public:
    Writer(const Trace& trace, OutputFile& file, const WriteOptions& options)
        : m_trace(trace), m_file(file), m_out(file.buffer()), m_walk(trace, options), m_arrows(trace),
          m_args(trace, m_out), m_addresses(addresses(trace)), m_stats(trace.captureStats()),
          m_base(firstTime(trace) / 1000 * 1000)
    {
    }

    /// False if it was stopped or the disk is full.
    bool write()
    {
        appendJsonHead(m_out, m_trace, m_base);
        writeNames();
        for (const Track& track : m_trace.tracks()) {
            if (track.kind == TrackKind::Counter)
                writeCounter(track);
            else if (!writeSlices(track))
                return false;
        }
        m_out += "\n]";
        noteMissing();
        appendJsonCapture(m_out, m_stats);
        m_out += "\n}\n";
        return true;
    }

private:
    template <class... Args>
    void print(fmt::format_string<Args...> format, Args&&... args)
    {
        fmt::format_to(std::back_inserter(m_out), format, std::forward<Args>(args)...);
    }

    void beginEvent(const char* phase, Address address)
    {
        print("{}\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{}", std::exchange(m_comma, ","), phase, address.pid,
              address.tid);
    }

    void writeText(std::string_view key, std::string_view text)
    {
        print(",\"{}\":", key);
        appendJsonString(m_out, text);
    }

    void writeTime(std::string_view key, std::int64_t ns)
    {
        print(",\"{}\":", key);
        appendMicroseconds(m_out, ns);
    }

    void writeName(const char* what, Address address, std::string_view name, std::string_view row = {})
    {
        beginEvent("M", address);
        print(",\"name\":\"{}\",\"args\":{{\"name\":", what);
        appendJsonString(m_out, name);
        if (!row.empty())
            writeText(json::kRowKey, row);
        m_out += "}}";
    }

    /// Writes nothing if the original file did not request an order.
    void writeOrder(const char* what, Address address, std::int32_t sortIndex)
    {
        if (sortIndex == 0)
            return;
        beginEvent("M", address);
        print(",\"name\":\"{}\",\"args\":{{\"sort_index\":{}}}}}", what, sortIndex);
    }

    void writeNames()
    {
        std::set<std::int64_t> processes;
        std::set<Address> threads;
        for (const Track& track : m_trace.tracks()) {
            const Address address = m_addresses[track.id.value];
            if (processes.insert(address.pid).second) {
                writeName("process_name", address,
                          isOfDevice(track)           ? fmt::format("GPU {}", address.pid)
                          : track.processName.empty() ? std::string("process")
                                                      : track.processName);
                writeOrder("process_sort_index", address, track.processSortIndex);
            }
            if (track.kind != TrackKind::Counter && threads.insert(address).second) {
                writeName("thread_name", address, track.name, json::ownRowName(track.kind));
                writeOrder("thread_sort_index", address, track.sortIndex);
            }
            m_file.grown();
        }
    }

    void writeCounter(const Track& track)
    {
        for (const CounterSample& sample : m_trace.counter(track.id)) {
            if (!std::isfinite(sample.value)) { // JSON cannot represent it
                ++m_notFinite;
                continue;
            }
            beginEvent("C", m_addresses[track.id.value]);
            writeText("name", track.name);
            writeTime("ts", toNs(sample.time) - m_base);
            m_out += ",\"args\":{";
            appendJsonString(m_out, track.unit.empty() ? "value" : track.unit);
            print(":{}}}}}", sample.value);
            m_file.grown();
        }
    }

    [[nodiscard]] std::string nameOf(const Slice& slice) const
    {
        const std::string_view name = m_trace.name(slice);
        const SliceArgs& args = slice.args;
        if (slice.kind == ActivityKind::Step)
            return fmt::format("ProfilerStep#{}", args.value);
        // Kineto gives the memory kinds of a copy only in its name; other copies ("hipMemcpyHtoD") have their own
        // names.
        const bool ends = args.src != MemoryKind::Unknown || args.dst != MemoryKind::Unknown;
        const bool said = name.find("->") != name.npos || (!ends && name.find(copyKindName(args.copy)) != name.npos);
        if (slice.kind == ActivityKind::GpuMemcpy && !said && args.copy != CopyKind::Unknown)
            return fmt::format("Memcpy {} ({} -> {})", copyKindName(args.copy), memoryKindName(args.src),
                               memoryKindName(args.dst));
        return std::string(name);
    }

    /// Writes slices with the details from their file, which are read in batches. False if it was stopped or the disk
    /// is full.
    bool writeSlices(const Track& track)
    {
        std::vector<Slice> some;
        bool on = true;
        m_trace.forEach(track.id, kAllTime, [&](const Slice& slice) {
            some.push_back(slice);
            if (some.size() == kTogether) {
                on = writeSome(track, some);
                some.clear();
            }
            return on;
        });
        return on && writeSome(track, some);
    }

    bool writeSome(const Track& track, const std::vector<Slice>& slices)
    {
        std::vector<std::uint64_t> sources;
        if (m_trace.argSource())
            for (const Slice& slice : slices)
                if (slice.source != 0)
                    sources.push_back(slice.source);
        auto next = slices.begin();
        bool on = true;
        const auto write = [&](const SliceDetails& details) {
            writeSlice(track, *next++, details);
            on = m_walk.step() && !m_file.failed();
        };
        const auto take = [&](Result<SliceDetails> details) {
            while (on && next->source == 0)
                write({});
            if (!details && m_unread++ == 0)
                m_whyUnread = details.error().message();
            if (on)
                write(details ? *details : SliceDetails{});
            return on;
        };
        if (!sources.empty())
            m_trace.argSource()->readMany(sources, take);
        while (on && next != slices.end())
            write({});
        return on;
    }

    void noteMissing()
    {
        if (m_unread > 0)
            m_stats.notes.push_back(
                message<"json.unread_details",
                        "The arguments of {slices} could not be read when this copy was made: {why}.">(
                    {{"count", m_unread},
                     {"slices", m_unread == 1 ? "a slice" : countText(m_unread) + " slices"},
                     {"why", m_whyUnread}}));
        if (m_notFinite > 0)
            m_stats.notes.push_back(
                message<"json.not_finite",
                        "{values} of counters {count|is|are} NaN or infinite, which JSON cannot represent, and "
                        "{count|was|were} left out.">(
                    {{"count", m_notFinite},
                     {"values", m_notFinite == 1 ? "A value" : countText(m_notFinite) + " values"}}));
    }

    void writeSlice(const Track& track, const Slice& slice, const SliceDetails& details)
    {
        const Address address = m_addresses[track.id.value];
        beginEvent("X", address);
        m_args.writeCategory(track, slice, details);
        writeText("name", nameOf(slice));
        writeTime("ts", toNs(slice.begin) - m_base);
        writeTime("dur", slice.duration.count());
        m_args.writeOwnKeys(details);
        m_args.writeArgs(track, slice, details);
        m_out += "}";
        for (const ArrowEnd& end : m_arrows.at(slice, m_ends)) {
            beginEvent(end.begins ? "s" : "f", address);
            print(",\"id\":{}", end.id);
            writeText("cat", arrowCategory(end.kind));
            writeText("name", arrowCategory(end.kind));
            writeTime("ts", toNs(slice.begin) - m_base);
            m_out += end.begins ? "}" : ",\"bp\":\"e\"}";
        }
        m_file.grown();
    }

    const Trace& m_trace;
    OutputFile& m_file;
    std::string& m_out;
    Walk m_walk;
    Arrows m_arrows;
    static constexpr std::size_t kTogether = 4096; ///< slices whose details are read together

    JsonArgs m_args;
    std::vector<Address> m_addresses; ///< by track
    CaptureStats m_stats;             ///< losses of the trace, plus those of this file
    std::uint64_t m_unread = 0, m_notFinite = 0;
    std::string m_whyUnread;
    std::int64_t m_base;
    std::vector<ArrowEnd> m_ends;
    const char* m_comma = "";
};

} // namespace

Result<void> writePytorchJson(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
{
    return writeFile(trace, path, options, [&](OutputFile& file) { return Writer(trace, file, options).write(); });
}

} // namespace profiler::formats::writers
