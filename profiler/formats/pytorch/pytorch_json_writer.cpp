#include "profiler/formats/pytorch/pytorch_json_writer.h"

#include "profiler/formats/output/arrows.h"
#include "profiler/formats/output/output_file.h"
#include "profiler/formats/pytorch/event.h"
#include "profiler/formats/pytorch/json_text.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace profiler::formats::writers {

namespace {

using json::kMadeUpIds;

/// Writes texts from a file as JSON values. Not thread-safe.
class JsonValues {
public:
    /// Appends numbers, true, false, null, lists and objects unchanged, and any other text as a string. The elements of
    /// a list without quotes ("[float, Scalar]") are quoted.
    void append(std::string& out, std::string_view text);
    /// True for a complete JSON list or object.
    bool isContainer(std::string_view text);

private:
    simdjson::dom::parser m_parser;
};

/// Writes "[float, , Scalar]" as a list of strings.
void appendListElements(std::string& out, std::string_view text)
{
    text = text.substr(1, text.size() - 2);
    out += '[';
    while (!text.empty()) {
        const std::size_t end = text.find(", ");
        appendJsonString(out, text.substr(0, end));
        if (end == text.npos)
            break;
        out += ", ";
        text.remove_prefix(end + 2);
        if (text.empty()) // there is also an entry after the last comma
            out += "\"\"";
    }
    out += ']';
}

bool JsonValues::isContainer(std::string_view text)
{
    const bool looks = (text.starts_with('[') && text.ends_with(']')) || (text.starts_with('{') && text.ends_with('}'));
    return looks && m_parser.parse(text.data(), text.size()).error() == simdjson::SUCCESS;
}

void JsonValues::append(std::string& out, std::string_view text)
{
    if (json::isNumber(text) || text == "true" || text == "false" || text == "null" || isContainer(text))
        out += text;
    else if (text.starts_with('[') && text.ends_with(']') && text.size() > 1)
        appendListElements(out, text);
    else
        appendJsonString(out, text);
}

/// True for rows that are threads of a device in PyTorch's files.
bool isOfDevice(const Track& track)
{
    return track.kind == TrackKind::Stream || track.kind == TrackKind::Annotation;
}

/// Keys of an event itself. Its details contain them together with the keys of its args.
constexpr std::array<std::string_view, 16> kEventKeys = {"ph",       "cat",   "name", "pid", "tid",     "ts",
                                                         "dur",      "id",    "id2",  "bp",  "bind_id", "flow_in",
                                                         "flow_out", "cname", "tts",  "tdur"};
/// The event keys that have no column and do not describe the event's position in a file. Copies keep them.
constexpr std::array<std::string_view, 3> kCarriedKeys = {"cname", "tts", "tdur"};
/// Columns of an Nsight table that the event already contains.
constexpr std::array<std::string_view, 5> kRowKeys = {"start", "end", "deviceId", "streamId", "correlationId"};

constexpr std::string_view kForwardThread = "Fwd thread id";

std::string_view find(const SliceDetails& details, std::string_view key)
{
    const auto entry = std::find_if(details.begin(), details.end(), [&](const auto& e) { return e.first == key; });
    return entry == details.end() ? std::string_view() : std::string_view(entry->second);
}

bool isPositive(std::string_view text)
{
    return !text.empty() && text.size() < 19 && text.front() != '0' &&
           text.find_first_not_of("0123456789") == text.npos;
}

/// Writes the fields of an event other than its name and times. Not thread-safe.
class JsonArgs {
public:
    JsonArgs(const Trace& trace, std::string& out);

    /// Appends `,"cat":…`, or nothing if the original file had no category.
    void writeCategory(const Track& track, const Slice& slice, const SliceDetails& details);
    /// Appends the other top-level keys of an event: its colour and its thread clock.
    void writeOwnKeys(const SliceDetails& details);
    /// Appends `,"args":{…}` if there are any: first the columns of the trace under PyTorch's names, then everything
    /// else in the original file.
    void writeArgs(const Track& track, const Slice& slice, const SliceDetails& details);

private:
    void key(std::string_view name, std::string_view otherName = {});
    void columns(const Track& track, const Slice& slice, const SliceDetails& details);
    void launch(const LaunchConfig& launch);
    void others(const SliceDetails& details);

    const Trace& m_trace;
    std::string& m_out;
    bool m_fromJson, m_fromNsys;
    JsonValues m_values;
    std::string_view m_comma;
    std::vector<std::string_view> m_written; ///< keys of the current event that were written, under either name
};

JsonArgs::JsonArgs(const Trace& trace, std::string& out)
    : m_trace(trace), m_out(out), m_fromJson(trace.format() == "pytorch-json"),
      m_fromNsys(trace.format() == "nsys-sqlite")
{
}

void JsonArgs::writeCategory(const Track& track, const Slice& slice, const SliceDetails& details)
{
    std::string_view category = activityName(slice.kind);
    if (slice.kind == ActivityKind::Step)
        category = activityName(m_fromJson && json::isOperator(find(details, "cat")) ? ActivityKind::CpuOp
                                                                                     : ActivityKind::UserAnnotation);
    else if (slice.kind == ActivityKind::Sync && !isOfDevice(track))
        category = json::kHostSync;
    else if (slice.kind == ActivityKind::Other && m_fromJson && !details.empty())
        category = find(details, "cat");
    if (category.empty())
        return;
    m_out += ",\"cat\":";
    appendJsonString(m_out, category);
}

void JsonArgs::writeOwnKeys(const SliceDetails& details)
{
    if (!m_fromJson)
        return;
    for (const std::string_view name : kCarriedKeys)
        if (const std::string_view value = find(details, name); !value.empty()) {
            m_out += ',';
            appendJsonString(m_out, name);
            m_out += ':';
            m_values.append(m_out, value);
        }
}

/// The columns of an Nsight export with the same figures count as written.
void JsonArgs::launch(const LaunchConfig& launch)
{
    using Names = std::array<std::string_view, 3>;
    const auto size = [&](std::string_view name, const std::array<std::uint32_t, 3>& sizes, const Names& columns) {
        if (sizes == std::array<std::uint32_t, 3>{})
            return;
        key(name);
        m_written.insert(m_written.end(), columns.begin(), columns.end());
        fmt::format_to(std::back_inserter(m_out), "[{},{},{}]", sizes[0], sizes[1], sizes[2]);
    };
    const auto figure = [&](std::string_view name, std::optional<std::uint32_t> value, std::string_view column) {
        if (!value)
            return;
        key(name, column);
        fmt::format_to(std::back_inserter(m_out), "{}", *value);
    };
    size("grid", launch.grid, {"gridX", "gridY", "gridZ"});
    size("block", launch.block, {"blockX", "blockY", "blockZ"});
    figure("registers per thread", launch.registers, "registersPerThread");
    figure("shared memory", launch.sharedMemory, "staticSharedMemory");
    figure(json::kDynamicSharedKey, launch.dynamicSharedMemory, "dynamicSharedMemory");
    figure(json::kLocalMemoryKey, launch.localMemory, "localMemoryPerThread");
}

void JsonArgs::key(std::string_view name, std::string_view otherName)
{
    m_out += std::exchange(m_comma, ",");
    appendJsonString(m_out, name);
    m_out += ':';
    m_written.push_back(name);
    if (!otherName.empty())
        m_written.push_back(otherName);
}

void JsonArgs::writeArgs(const Track& track, const Slice& slice, const SliceDetails& details)
{
    constexpr std::string_view kOpening = ",\"args\":{";
    m_comma = kOpening;
    m_written.clear();
    columns(track, slice, details);
    launch(m_trace.launch(slice.args.launch));
    others(details);
    if (m_comma != kOpening)
        m_out += '}';
}

void JsonArgs::columns(const Track& track, const Slice& slice, const SliceDetails& details)
{
    const SliceArgs& args = slice.args;
    const auto number = [&](std::string_view name, auto value, std::string_view otherName = {}) {
        key(name, otherName);
        fmt::format_to(std::back_inserter(m_out), "{}", value);
    };
    const auto list = [&](std::string_view name, StringId id, std::string_view otherName) {
        if (id.value == 0)
            return;
        key(name, otherName);
        m_values.append(m_out, m_trace.string(id));
    };
    if (slice.externalId != 0)
        number("External id", slice.externalId, "external id");
    if (isOfDevice(track) || args.device)
        number("device", args.device.value_or(track.device).value);
    if (isOfDevice(track) || args.stream)
        number("stream", args.stream.value_or(track.stream).value);
    if (slice.correlation.value != 0)
        number("correlation", slice.correlation.value);
    if (slice.kind == ActivityKind::CpuOp && slice.sequence >= 0)
        number("Sequence number", slice.sequence);
    if (slice.is(slice_flag::kBackward)) {
        const std::string_view thread = find(details, kForwardThread);
        number(kForwardThread, isPositive(thread) ? thread : "1");
    }
    if (args.bytes != 0)
        number("bytes", args.bytes, "Bytes");
    if (args.value != 0 && slice.kind != ActivityKind::Step) {
        const bool index = slice.kind == ActivityKind::Phase || slice.kind == ActivityKind::LoaderStage;
        number(index ? json::kIndexKey : "value", args.value);
    }
    list("Input Dims", args.shapes, "Input dims");
    list("Input type", args.types, "");
}

void JsonArgs::others(const SliceDetails& details)
{
    const auto holds = [](const auto& keys, std::string_view name) {
        return std::find(keys.begin(), keys.end(), name) != keys.end();
    };
    std::vector<std::string_view> passed; // an argument may have the same name as one of the event's own keys
    for (const auto& [name, value] : details) {
        if (holds(m_written, name) || (m_fromNsys && holds(kRowKeys, name)))
            continue;
        if (m_fromJson && holds(kEventKeys, name) && !holds(passed, name)) {
            passed.push_back(name);
            continue;
        }
        m_out += std::exchange(m_comma, ",");
        appendJsonString(m_out, name);
        m_out += ':';
        m_values.append(m_out, value);
    }
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

/// Prefix of the metadata with the top-level values of the PyTorch file that a trace was read from.
constexpr std::string_view kTheirs = "pytorch.";
/// Those of them that are written anyway.
constexpr std::array<std::string_view, 5> kWritten = {"schemaVersion", "deviceProperties", "displayTimeUnit",
                                                      "baseTimeNanoseconds", "distributedInfo"};

bool isCount(std::string_view text)
{
    return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
}

/// Writes what a PyTorch file contains before its events: devices, versions, ranks, and the corresponding entries of
/// the original file.
class Head {
public:
    /// @param base  the zero of the file's clock, ns
    Head(std::string& out, const Trace& trace, std::int64_t base)
        : m_out(out), m_trace(trace), m_metadata(trace.metadata()), m_base(base)
    {
    }

    void write()
    {
        m_out += "{\n\"schemaVersion\": 1,\n";
        writeDevices();
        fmt::format_to(std::back_inserter(m_out), "\"displayTimeUnit\": \"ns\",\n\"baseTimeNanoseconds\": {},\n",
                       m_base);
        writeRanks();
        writeMetadata();
        writeUnits();
        m_out += "\"traceEvents\": [";
    }

private:
    /// A list or an object of the original file; empty if it had none.
    std::string_view theirs(std::string_view key)
    {
        const auto entry = m_metadata.find(std::string(kTheirs) + std::string(key));
        return entry != m_metadata.end() && m_values.isContainer(entry->second) ? entry->second : std::string_view();
    }

    void writeDevices()
    {
        m_out += "\"deviceProperties\": ";
        if (const std::string_view devices = theirs("deviceProperties"); devices.starts_with('[')) {
            m_out += devices;
            m_out += ",\n";
            return;
        }
        m_out += '[';
        const char* comma = "";
        const auto out = std::back_inserter(m_out);
        for (const Device& device : m_trace.devices()) {
            fmt::format_to(out, "{}\n  {{\"id\": {}, \"name\": ", std::exchange(comma, ","), device.id.value);
            appendJsonString(m_out, device.name);
            if (!device.uuid.empty()) {
                m_out += ",\"uuid\":";
                appendJsonString(m_out, device.uuid);
            }
            if (device.computeMajor != 0)
                fmt::format_to(out, R"(,"computeMajor":{},"computeMinor":{})", device.computeMajor,
                               device.computeMinor);
            if (device.memoryBytes != 0)
                fmt::format_to(out, ",\"totalGlobalMem\":{}", device.memoryBytes);
            const std::pair<std::string_view, int> figures[] = {
                {"numSms", device.multiprocessors},
                {"maxThreadsPerMultiprocessor", device.limits.threads},
                {json::kBlocksPerSmKey, device.limits.blocks},
                {"regsPerMultiprocessor", device.limits.registers},
                {"sharedMemPerMultiprocessor", device.limits.sharedMemory}};
            for (const auto& [key, figure] : figures)
                if (figure > 0)
                    fmt::format_to(out, ",\"{}\":{}", key, figure);
            m_out += "}";
        }
        m_out += "\n],\n";
    }

    void writeRanks()
    {
        const auto rank = m_metadata.find("rank"), worldSize = m_metadata.find("world_size");
        if (const std::string_view info = theirs("distributedInfo"); info.starts_with('{'))
            fmt::format_to(std::back_inserter(m_out), "\"distributedInfo\": {},\n", info);
        else if (rank != m_metadata.end() && worldSize != m_metadata.end() && isCount(rank->second) &&
                 isCount(worldSize->second))
            fmt::format_to(std::back_inserter(m_out), "\"distributedInfo\": {{\"rank\": {}, \"world_size\": {}}},\n",
                           rank->second, worldSize->second);
    }

    /// Times, and values that describe the clock, are relative to the file's base time.
    [[nodiscard]] std::string valueOf(std::string_view key, const std::string& value) const
    {
        const bool time = key == "record.begin_ns" || key == "record.end_ns";
        if (!time && key != "clock.realtime_minus_monotonic_ns")
            return value;
        std::int64_t ns = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), ns);
        // The metadata of a foreign file can contain any number; the sum must not overflow.
        const auto sum = static_cast<std::uint64_t>(ns) + static_cast<std::uint64_t>(time ? -m_base : m_base);
        return read.ec == std::errc{} ? std::to_string(static_cast<std::int64_t>(sum)) : value;
    }

    void writeTheirs(std::string_view key, const std::string& value)
    {
        const bool written = std::find(kWritten.begin(), kWritten.end(), key) != kWritten.end() ||
                             std::any_of(kVersions.begin(), kVersions.end(), [&](const Version& version) {
                                 return version.theirs == key && m_metadata.contains(version.ours);
                             });
        if (written)
            return;
        appendJsonString(m_out, key);
        m_out += ": ";
        m_values.append(m_out, value);
        m_out += ",\n";
    }

    /// Writes versions under PyTorch's names, entries from a PyTorch file unchanged, and the rest under our names.
    void writeMetadata()
    {
        for (const auto& [key, value] : m_metadata) {
            if (key.starts_with(kTheirs)) {
                writeTheirs(std::string_view(key).substr(kTheirs.size()), value);
                continue;
            }
            if (key.starts_with("source.")) // describes the file that this trace was read from
                continue;
            const auto version = std::find_if(kVersions.begin(), kVersions.end(),
                                              [&, &known = key](const Version& row) { return row.ours == known; });
            appendJsonString(m_out, version != kVersions.end() ? std::string(version->theirs)
                                                               : std::string(json::kMetadataPrefix) + key);
            m_out += ": ";
            appendJsonString(m_out, valueOf(key, value));
            m_out += ",\n";
        }
    }

    /// Written under our key: PyTorch's format cannot store units.
    void writeUnits()
    {
        std::map<std::string_view, std::string_view> units;
        for (const Track& track : m_trace.tracks())
            if (track.kind == TrackKind::Counter && !track.unit.empty())
                units.emplace(track.name, track.unit);
        if (units.empty())
            return;
        fmt::format_to(std::back_inserter(m_out), "\"{}\": {{", json::kUnitsKey);
        const char* comma = "";
        for (const auto& [name, unit] : units) {
            m_out += std::exchange(comma, ", ");
            appendJsonString(m_out, name);
            m_out += ": ";
            appendJsonString(m_out, unit);
        }
        m_out += "},\n";
    }

    std::string& m_out;
    const Trace& m_trace;
    const std::map<std::string, std::string, std::less<>>& m_metadata;
    std::int64_t m_base;
    JsonValues m_values;
};

/// Appends what was lost before the file was written, as an entry after the events; appends nothing if there were no
/// losses.
void appendJsonCapture(std::string& out, const CaptureStats& stats)
{
    if (stats.dropped == 0 && !stats.cut && stats.notes.empty())
        return;
    fmt::format_to(std::back_inserter(out), ",\n\"{}\": {{\"dropped\": {}, \"cut\": {}, \"notes\": [",
                   json::kCaptureKey, stats.dropped, stats.cut);
    const auto append = [&](const auto& field) {
        const char* comma = "";
        for (const Message& note : stats.notes) {
            out += std::exchange(comma, ",");
            out += "\n  ";
            appendJsonString(out, field(note));
        }
    };
    append([](const Message& note) -> const std::string& { return note.text; });
    out += "], \"note_ids\": [";
    append([](const Message& note) -> const std::string& { // for copied notes: the id of the original note
        const MessageParameter* const original = note.find("note_id");
        return original ? original->text : note.id;
    });
    out += "]}";
}

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
        Head(m_out, m_trace, m_base).write();
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
    static constexpr std::size_t kTogether = 4096; ///< slices whose details are read together

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
        print(R"(,"name":"{}","args":{{"name":)", what);
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
        print(R"(,"name":"{}","args":{{"sort_index":{}}}}})", what, sortIndex);
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
            m_out += end.begins ? "}" : R"(,"bp":"e"})";
        }
        m_file.grown();
    }

    const Trace& m_trace;
    OutputFile& m_file;
    std::string& m_out;
    Walk m_walk;
    Arrows m_arrows;
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
