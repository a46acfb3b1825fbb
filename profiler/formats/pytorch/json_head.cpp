#include "profiler/formats/pytorch/json_args.h"

#include "profiler/formats/pytorch/json_text.h"
#include "profiler/formats/pytorch/own_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace profiler::formats::writers {

namespace {

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

class Head {
public:
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
                fmt::format_to(out, ",\"computeMajor\":{},\"computeMinor\":{}", device.computeMajor,
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

} // namespace

void appendJsonHead(std::string& out, const Trace& trace, std::int64_t base)
{
    Head(out, trace, base).write();
}

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

} // namespace profiler::formats::writers
