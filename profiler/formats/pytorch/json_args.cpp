#include "profiler/formats/pytorch/json_args.h"
#include "profiler/formats/pytorch/category.h"
#include "profiler/formats/pytorch/json_text.h"
#include "profiler/formats/pytorch/own_keys.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <utility>

namespace profiler::formats::writers {

namespace {

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

} // namespace

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

namespace {

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

} // namespace

bool isOfDevice(const Track& track)
{
    return track.kind == TrackKind::Stream || track.kind == TrackKind::Annotation;
}

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

} // namespace profiler::formats::writers
