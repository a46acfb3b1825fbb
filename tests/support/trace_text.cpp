#include "tests/support/trace_text.h"

#include <cmath>
#include <fmt/core.h>
#include <iterator>

namespace test_support {

/// The verb for a kind in a text.
std::string_view kindVerb(profiler::ActivityKind kind);

namespace {

using namespace profiler;
using Out = std::back_insert_iterator<std::string>;

std::string quoted(std::string_view text)
{
    if (!text.empty() && text.find_first_of(" \t\n\"\\=#") == std::string_view::npos)
        return std::string{text};
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        c == '\n' ? out += "\\n" : out += c;
    }
    return out + '"';
}

/// µs, with up to three decimals: 1, 0.5, -2.25.
std::string micros(std::int64_t ns)
{
    constexpr std::int64_t kPerMicrosecond = 1000;
    std::string text =
        fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns / kPerMicrosecond), std::abs(ns % kPerMicrosecond));
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
        text.pop_back();
    return text;
}

std::string trackLine(const Track& track)
{
    std::string text;
    std::string usual;
    switch (track.kind) {
    case TrackKind::MainThread:
        usual = "main thread";
        text = "main";
        break;
    case TrackKind::Thread:
        usual = track.name;
        text = "thread " + quoted(track.name);
        break;
    case TrackKind::LoaderWorker:
        usual = track.name;
        text = "worker " + quoted(track.name.starts_with("loader worker ") ? track.name.substr(14) : track.name);
        break;
    case TrackKind::Stream:
        usual = fmt::format("stream {}", track.stream.value);
        text = fmt::format("stream {} {}", track.device.value, track.stream.value);
        break;
    case TrackKind::Annotation:
        usual = fmt::format("annotations {}", track.stream.value);
        text = fmt::format("annotations {} {}", track.device.value, track.stream.value);
        break;
    case TrackKind::NvtxDomain:
        usual = track.name;
        text = "domain " + quoted(track.name);
        break;
    case TrackKind::Counter:
        usual = track.name;
        text = "counter " + quoted(track.name);
        break;
    }
    if (track.name != usual)
        text += " name=" + quoted(track.name);
    if (track.pid != 0)
        text += fmt::format(" pid={}", track.pid);
    if (track.tid != 0)
        text += fmt::format(" tid={}", track.tid);
    if (!track.unit.empty())
        text += " unit=" + quoted(track.unit);
    if (!track.processName.empty())
        text += " process=" + quoted(track.processName);
    if (track.sortIndex != 0)
        text += fmt::format(" sort={}", track.sortIndex);
    if (track.processSortIndex != 0)
        text += fmt::format(" process_sort={}", track.processSortIndex);
    return text + '\n';
}

void appendLaunch(std::string& text, const LaunchConfig& launch)
{
    const Out out{text};
    if (launch.blocks() > 0)
        fmt::format_to(out, " grid={},{},{}", launch.grid[0], launch.grid[1], launch.grid[2]);
    if (launch.threads() > 0)
        fmt::format_to(out, " block={},{},{}", launch.block[0], launch.block[1], launch.block[2]);
    if (launch.registers)
        fmt::format_to(out, " registers={}", *launch.registers);
    if (launch.sharedMemory)
        fmt::format_to(out, " shared={}", *launch.sharedMemory);
    if (launch.dynamicSharedMemory)
        fmt::format_to(out, " dynamic={}", *launch.dynamicSharedMemory);
    if (launch.localMemory)
        fmt::format_to(out, " local={}", *launch.localMemory);
}

void appendArgs(std::string& text, const Trace& trace, const Slice& slice)
{
    const Out out{text};
    if (slice.args.value != 0 && slice.kind != ActivityKind::Step)
        fmt::format_to(out, " value={}", slice.args.value);
    if (slice.args.bytes != 0)
        fmt::format_to(out, " bytes={}", slice.args.bytes);
    if (slice.args.src != MemoryKind::Unknown)
        fmt::format_to(out, " src={}", memoryKindName(slice.args.src));
    if (slice.args.dst != MemoryKind::Unknown)
        fmt::format_to(out, " dst={}", memoryKindName(slice.args.dst));
    if (slice.correlation.value != 0)
        fmt::format_to(out, " corr={}", slice.correlation.value);
    if (slice.sequence >= 0)
        fmt::format_to(out, " seq={}", slice.sequence);
    if (slice.externalId != 0)
        fmt::format_to(out, " ext={}", slice.externalId);
    if (slice.args.shapes.value != 0)
        fmt::format_to(out, " shapes={}", quoted(trace.string(slice.args.shapes)));
    if (slice.args.types.value != 0)
        fmt::format_to(out, " types={}", quoted(trace.string(slice.args.types)));
    appendLaunch(text, trace.launch(slice.args.launch));
    if (slice.args.device)
        fmt::format_to(out, " dev={}", slice.args.device->value);
    if (slice.args.stream)
        fmt::format_to(out, " on={}", slice.args.stream->value);
    if (slice.depth != 0)
        fmt::format_to(out, " depth={}", slice.depth);
    if (slice.is(slice_flag::kAsync))
        text += " async";
    if (slice.is(slice_flag::kBackward))
        text += " backward";
}

std::string sliceLine(const Trace& trace, const Slice& slice)
{
    const std::string_view name = trace.name(slice);
    std::string first = quoted(name);
    std::string usual{name};
    if (slice.kind == ActivityKind::Step) {
        first = std::to_string(slice.args.value);
        usual = "step";
    } else if (slice.kind == ActivityKind::GpuMemcpy) {
        first = copyKindName(slice.args.copy);
        usual = "Memcpy " + first;
    }
    const std::string duration = slice.is(slice_flag::kOpen) ? "open" : micros(slice.duration.count());
    std::string text = fmt::format("{:{}}{} {} {} {}", "", 2 * (slice.depth + 1), kindVerb(slice.kind), first,
                                   micros(toNs(slice.begin)), duration);
    appendArgs(text, trace, slice);
    if (usual != name)
        text += " name=" + quoted(name);
    return text + '\n';
}

std::string head(const Trace& trace)
{
    std::string text;
    if (!trace.format().empty())
        text += fmt::format("format {}\n", quoted(trace.format()));
    for (const auto& [key, value] : trace.metadata())
        text += fmt::format("meta {} {}\n", quoted(key), value);
    for (const Device& device : trace.devices())
        text += fmt::format("device {} {} {}{}{}{}\n", device.id.value, quoted(device.name), quoted(device.uuid),
                            device.computeMajor > 0 ? fmt::format(" sm={}{}", device.computeMajor, device.computeMinor)
                                                    : "",
                            device.memoryBytes > 0 ? fmt::format(" memory={}", device.memoryBytes) : "",
                            device.multiprocessors > 0 ? fmt::format(" sms={}", device.multiprocessors) : "");
    const CaptureStats& stats = trace.captureStats();
    if (stats.dropped != 0 || stats.unmatched != 0 || stats.cut || stats.live)
        text += fmt::format("lost dropped={} unmatched={}{}{}\n", stats.dropped, stats.unmatched,
                            stats.cut ? " cut" : "", stats.live ? " live" : "");
    for (const Message& note : stats.notes)
        text += fmt::format("lost note={}\n", quoted(note.text));
    return text;
}

} // namespace

std::string traceToText(const Trace& trace)
{
    std::string text = head(trace);
    for (const Track& track : trace.tracks()) {
        text += trackLine(track);
        for (const Slice& slice : trace.sorted(track.id))
            text += sliceLine(trace, slice);
        for (const CounterSample& sample : trace.counter(track.id))
            text += fmt::format("  sample {} {}\n", micros(toNs(sample.time)), sample.value);
    }
    return text;
}

} // namespace test_support
