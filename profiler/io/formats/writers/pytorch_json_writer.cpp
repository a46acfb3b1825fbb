#include "profiler/io/formats/writers/pytorch_json_writer.h"

#include "profiler/io/formats/json/own_keys.h"
#include "profiler/io/formats/writers/arrows.h"
#include "profiler/io/formats/writers/json_text.h"
#include "profiler/io/formats/writers/output_file.h"

#include <algorithm>
#include <array>
#include <charconv>
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

/// Where the events of a track lie: a process and a thread of the file. Device tracks are a thread of the device, as
/// Kineto has it.
struct Address {
    std::int64_t pid = 0, tid = 0;
    friend auto operator<=>(const Address&, const Address&) = default;
};

bool isOfDevice(const Track& track)
{
    return track.kind == TrackKind::Stream || track.kind == TrackKind::Annotation;
}

std::vector<Address> addresses(const Trace& trace)
{
    std::vector<Address> result;
    std::set<Address> hosts;
    std::set<std::tuple<Address, TrackKind, std::string>> ofDevices;
    for (const Track& track : trace.tracks()) {
        const std::int64_t madeUp = kMadeUpIds + track.id.value;
        Address address{track.pid != 0 ? track.pid : kMadeUpIds, track.tid != 0 ? track.tid : madeUp};
        if (isOfDevice(track)) {
            address = {track.device.value, track.stream.value};
            // Annotations share their stream's row; two streams of one number, of two processes, do not.
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

/// "[[2, 3], []]" stands in a file as it is, where it is JSON of numbers; any other text as a string.
bool isNumbersOnly(std::string_view text)
{
    int open = 0;
    for (const char c : text) {
        if (std::string_view("[]0123456789,- ").find(c) == std::string_view::npos)
            return false;
        open += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (open < 0)
            return false;
    }
    return open == 0 && text.starts_with('[') && text.ends_with(']');
}

bool isNumber(std::string_view text)
{
    return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
}

struct Version {
    std::string_view ours, theirs;
};
constexpr std::array kVersions = {
    Version{"versions.cuda_runtime", "cuda_runtime_version"},
    Version{"versions.cuda_driver", "cuda_driver_version"},
    Version{"versions.cudnn", "cudnn_version"},
    Version{"versions.nccl", "nccl_version"},
    Version{"versions.cupti", "cupti_version"},
    Version{"versions.torch", "pytorch_version"},
};

class Writer {
public:
    Writer(const Trace& trace, OutputFile& file, const WriteOptions& options)
        : m_trace(trace), m_file(file), m_out(file.buffer()), m_walk(trace, options), m_arrows(trace),
          m_addresses(addresses(trace)), m_base(toNs(trace.range().begin) / 1000 * 1000)
    {
    }

    /// False: stopped, or the disk is full.
    bool write()
    {
        writeHead();
        writeNames();
        for (const Track& track : m_trace.tracks()) {
            if (track.kind == TrackKind::Counter) {
                writeCounter(track);
                continue;
            }
            bool on = true;
            m_trace.forEach(track.id, kAllTime, [&](const Slice& slice) {
                writeSlice(track, slice);
                on = m_walk.step() && !m_file.failed();
                return on;
            });
            if (!on)
                return false;
        }
        m_out += "\n]\n}\n";
        return true;
    }

private:
    template <class... Args>
    void print(fmt::format_string<Args...> format, Args&&... args)
    {
        fmt::format_to(std::back_inserter(m_out), format, std::forward<Args>(args)...);
    }

    void writeHead()
    {
        m_out += "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [";
        const char* comma = "";
        for (const Device& device : m_trace.devices()) {
            print("{}\n  {{\"id\": {}, \"name\": ", std::exchange(comma, ","), device.id.value);
            appendJsonString(m_out, device.name);
            if (!device.uuid.empty())
                writeText("uuid", device.uuid);
            if (device.computeMajor != 0)
                print(",\"computeMajor\":{},\"computeMinor\":{}", device.computeMajor, device.computeMinor);
            if (device.memoryBytes != 0)
                print(",\"totalGlobalMem\":{}", device.memoryBytes);
            m_out += "}";
        }
        m_out += "\n],\n\"displayTimeUnit\": \"ns\",\n";
        print("\"baseTimeNanoseconds\": {},\n", m_base);
        writeMetadata();
        writeUnits();
        m_out += "\"traceEvents\": [";
    }

    /// PyTorch's format has no place for them.
    void writeUnits()
    {
        std::map<std::string_view, std::string_view> units;
        for (const Track& track : m_trace.tracks())
            if (track.kind == TrackKind::Counter && !track.unit.empty())
                units.emplace(track.name, track.unit);
        if (units.empty())
            return;
        print("\"{}\": {{", json::kUnitsKey);
        const char* comma = "";
        for (const auto& [name, unit] : units) {
            m_out += std::exchange(comma, ", ");
            appendJsonString(m_out, name);
            m_out += ": ";
            appendJsonString(m_out, unit);
        }
        m_out += "},\n";
    }

    /// Times are told from the file's zero, and with them what is said of the clock.
    [[nodiscard]] std::string valueOf(std::string_view key, const std::string& value) const
    {
        const bool time = key == "record.begin_ns" || key == "record.end_ns";
        if (!time && key != "clock.realtime_minus_monotonic_ns")
            return value;
        std::int64_t ns = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), ns);
        // Any file's metadata may say anything: the sum must not overflow.
        const auto sum = static_cast<std::uint64_t>(ns) + static_cast<std::uint64_t>(time ? -m_base : m_base);
        return read.ec == std::errc{} ? std::to_string(static_cast<std::int64_t>(sum)) : value;
    }

    /// Versions and ranks under the names that PyTorch's profiler gives them, the rest under ours.
    void writeMetadata()
    {
        const auto& metadata = m_trace.metadata();
        const auto rank = metadata.find("rank"), worldSize = metadata.find("world_size");
        if (rank != metadata.end() && worldSize != metadata.end() && isNumber(rank->second) &&
            isNumber(worldSize->second))
            print("\"distributedInfo\": {{\"rank\": {}, \"world_size\": {}}},\n", rank->second, worldSize->second);
        for (const auto& [key, value] : metadata) {
            const auto version = std::find_if(kVersions.begin(), kVersions.end(),
                                              [&, &known = key](const Version& row) { return row.ours == known; });
            if (version == kVersions.end() && (key.starts_with("pytorch.") || key.starts_with("source.")))
                continue; // the file that this one was read from
            appendJsonString(m_out, version != kVersions.end() ? std::string(version->theirs)
                                                               : std::string(json::kMetadataPrefix) + key);
            m_out += ": ";
            appendJsonString(m_out, valueOf(key, value));
            m_out += ",\n";
        }
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

    void writeNames()
    {
        std::set<std::int64_t> processes;
        std::set<Address> threads;
        for (const Track& track : m_trace.tracks()) {
            const Address address = m_addresses[track.id.value];
            if (processes.insert(address.pid).second)
                writeName("process_name", address,
                          isOfDevice(track)           ? fmt::format("GPU {}", address.pid)
                          : track.processName.empty() ? std::string("process")
                                                      : track.processName);
            if (track.kind != TrackKind::Counter && threads.insert(address).second)
                writeName("thread_name", address, track.name, json::ownRowName(track.kind));
            m_file.grown();
        }
    }

    void writeCounter(const Track& track)
    {
        for (const CounterSample& sample : m_trace.counter(track.id)) {
            if (!std::isfinite(sample.value)) // JSON has no word for it
                continue;
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
        // Kineto tells the ends of a copy by its name only.
        const bool said = name.find("->") != name.npos;
        if (slice.kind == ActivityKind::GpuMemcpy && !said && args.copy != CopyKind::Unknown)
            return fmt::format("Memcpy {} ({} -> {})", copyKindName(args.copy), memoryKindName(args.src),
                               memoryKindName(args.dst));
        return std::string(name);
    }

    [[nodiscard]] static std::string_view categoryOf(const Track& track, ActivityKind kind)
    {
        if (kind == ActivityKind::Step)
            return activityName(ActivityKind::UserAnnotation);
        return kind == ActivityKind::Sync && !isOfDevice(track) ? json::kHostSync : activityName(kind);
    }

    void writeSlice(const Track& track, const Slice& slice)
    {
        const Address address = m_addresses[track.id.value];
        beginEvent("X", address);
        writeText("cat", categoryOf(track, slice.kind));
        writeText("name", nameOf(slice));
        writeTime("ts", toNs(slice.begin) - m_base);
        writeTime("dur", slice.duration.count());
        writeArgs(track, slice);
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

    void writeArgs(const Track& track, const Slice& slice)
    {
        const SliceArgs& args = slice.args;
        const char* comma = ",\"args\":{";
        const auto number = [&](std::string_view key, auto value) {
            print("{}\"{}\":{}", std::exchange(comma, ","), key, value);
        };
        const auto list = [&](std::string_view key, StringId id) {
            const std::string_view text = m_trace.string(id);
            print("{}\"{}\":", std::exchange(comma, ","), key);
            if (isNumbersOnly(text))
                m_out += text;
            else
                writeWords(text);
        };
        if (slice.externalId != 0)
            number("External id", slice.externalId);
        if (isOfDevice(track) || args.device)
            number("device", args.device.value_or(track.device).value);
        if (isOfDevice(track) || args.stream)
            number("stream", args.stream.value_or(track.stream).value);
        if (slice.correlation.value != 0)
            number("correlation", slice.correlation.value);
        if (slice.kind == ActivityKind::CpuOp && slice.sequence >= 0)
            number("Sequence number", slice.sequence);
        if (slice.is(slice_flag::kBackward))
            number("Fwd thread id", 1);
        if (args.bytes != 0)
            number("bytes", args.bytes);
        if (args.value != 0 && slice.kind != ActivityKind::Step) {
            const bool index = slice.kind == ActivityKind::Phase || slice.kind == ActivityKind::LoaderStage;
            number(index ? json::kIndexKey : "value", args.value);
        }
        if (args.shapes.value != 0)
            list("Input Dims", args.shapes);
        if (args.types.value != 0)
            list("Input type", args.types);
        if (*comma == ',' && comma[1] == '\0')
            m_out += "}";
    }

    /// "[float, Scalar]" as a list of its words; what is JSON already stays.
    void writeWords(std::string_view text)
    {
        if (text.find('"') != text.npos || !text.starts_with('[') || !text.ends_with(']')) {
            appendJsonString(m_out, text);
            return;
        }
        text = text.substr(1, text.size() - 2);
        m_out += '[';
        while (!text.empty()) {
            const std::size_t end = std::min(text.find(", "), text.size());
            appendJsonString(m_out, text.substr(0, end));
            text.remove_prefix(std::min(end + 2, text.size()));
            if (!text.empty())
                m_out += ", ";
        }
        m_out += ']';
    }

    const Trace& m_trace;
    OutputFile& m_file;
    std::string& m_out;
    Walk m_walk;
    Arrows m_arrows;
    std::vector<Address> m_addresses; ///< by track
    std::int64_t m_base;
    std::vector<ArrowEnd> m_ends;
    const char* m_comma = "";
};

} // namespace

Result<void> writePytorchJson(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options)
{
    return writeFile(path, options, [&](OutputFile& file) { return Writer(trace, file, options).write(); });
}

} // namespace profiler::formats::writers
