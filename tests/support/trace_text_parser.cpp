#include "tests/support/text_line.h"
#include "tests/support/trace_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace test_support {
namespace {

using namespace profiler;

struct KindVerb {
    std::string_view verb;
    ActivityKind kind;
};
constexpr KindVerb kKindVerbs[] = {
    {"other", ActivityKind::Other},
    {"step", ActivityKind::Step},
    {"phase", ActivityKind::Phase},
    {"stage", ActivityKind::LoaderStage},
    {"wait", ActivityKind::LoaderWait},
    {"op", ActivityKind::CpuOp},
    {"call", ActivityKind::CudaRuntime},
    {"driver", ActivityKind::CudaDriver},
    {"annotation", ActivityKind::UserAnnotation},
    {"kernel", ActivityKind::Kernel},
    {"copy", ActivityKind::GpuMemcpy},
    {"memset", ActivityKind::GpuMemset},
    {"gpu_annotation", ActivityKind::GpuUserAnnotation},
    {"sync", ActivityKind::Sync},
    {"overhead", ActivityKind::Overhead},
    {"nvtx", ActivityKind::Nvtx},
};
static_assert(std::size(kKindVerbs) == kActivityKinds);

std::optional<ActivityKind> kindOf(std::string_view verb)
{
    for (const auto& entry : kKindVerbs) {
        if (entry.verb == verb)
            return entry.kind;
    }
    return std::nullopt;
}

template <class Enum, class Name>
Enum named(const TextLine& line, std::string_view text, Enum last, Name nameOf)
{
    for (int i = 0; i <= static_cast<int>(last); ++i) {
        if (nameOf(static_cast<Enum>(i)) == text)
            return static_cast<Enum>(i);
    }
    line.fail(fmt::format("'{}' is not valid here", text));
}

MemoryKind memoryKind(const TextLine& line, std::string_view key)
{
    const std::string* text = line.option(key);
    return text ? named(line, *text, MemoryKind::Managed, memoryKindName) : MemoryKind::Unknown;
}

/// How an iteration of `repeat` changes a line.
struct Turn {
    std::int64_t index = 0, shift = 0; ///< shift: ns
    static constexpr std::int64_t kLinkStride = 1000;
};

struct Repeat {
    bool open = false;
    std::int64_t count = 0, period = 0;
    std::vector<TextLine> lines;
};

} // namespace

std::string_view kindVerb(ActivityKind kind)
{
    for (const auto& entry : kKindVerbs) {
        if (entry.kind == kind)
            return entry.verb;
    }
    return "other";
}

struct TextFeeder::State {
    explicit State(TraceBuilder& made) : builder(made) {}

    void feed(std::string_view text);
    void line(const TextLine& line, const Turn& turn);
    bool repeatLine(const TextLine& line, Repeat& repeat);
    bool trackLine(const TextLine& line);
    void selectTrack(const TextLine& line, Track track, std::size_t words);
    void traceLine(const TextLine& line);
    void sliceLine(const TextLine& line, ActivityKind kind, const Turn& turn);
    std::string sliceName(const TextLine& line, Slice& slice, const Turn& turn);
    static LaunchConfig launch(const TextLine& line);
    void readArgs(const TextLine& line, Slice& slice);
    void lost(const TextLine& line);

    TraceBuilder& builder;
    std::map<std::pair<TrackKind, std::string>, TrackId> tracks;
    std::optional<TrackId> current;
};

void TextFeeder::State::feed(std::string_view text)
{
    Repeat repeat;
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const TextLine read{text.substr(0, end), ++number};
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!read.empty() && !repeatLine(read, repeat))
            line(read, {});
    }
    if (repeat.open)
        TextLine{"", number}.fail("'repeat' without 'end'");
}

bool TextFeeder::State::repeatLine(const TextLine& read, Repeat& repeat)
{
    if (read.verb() == "repeat") {
        if (repeat.open || read.words() != 3 || read.word(1) != "every")
            read.fail("expected: repeat N every PERIOD, not within another repeat");
        repeat = {true, read.toNumber(read.word(0)), read.toTime(read.word(2)), {}};
        return true;
    }
    if (read.verb() == "end") {
        if (!repeat.open)
            read.fail("'end' without 'repeat'");
        repeat.open = false;
        for (std::int64_t i = 0; i < repeat.count; ++i) {
            for (const TextLine& again : repeat.lines)
                line(again, {i, repeat.period * i});
        }
        return true;
    }
    if (repeat.open)
        repeat.lines.push_back(read);
    return repeat.open;
}

void TextFeeder::State::line(const TextLine& line, const Turn& turn)
{
    if (const auto kind = kindOf(line.verb())) {
        sliceLine(line, *kind, turn);
    } else if (line.verb() == "sample") {
        line.expect(2, {});
        if (!current)
            line.fail("there is no track yet");
        builder.addSample(*current, {traceTime(line.toTime(line.word(0)) + turn.shift), line.toReal(line.word(1))});
    } else if (!trackLine(line)) {
        traceLine(line);
    }
}

bool TextFeeder::State::trackLine(const TextLine& line)
{
    Track track;
    std::size_t words = 1;
    if (line.verb() == "main") {
        track.kind = TrackKind::MainThread;
        track.name = "main thread";
        words = 0;
    } else if (line.verb() == "thread") {
        track.kind = TrackKind::Thread;
        track.name = line.word(0);
    } else if (line.verb() == "worker") {
        track.kind = TrackKind::LoaderWorker;
        track.name = "loader worker " + line.word(0);
    } else if (line.verb() == "domain") {
        track.kind = TrackKind::NvtxDomain;
        track.name = line.word(0);
    } else if (line.verb() == "stream" || line.verb() == "annotations") {
        words = 2;
        track.kind = line.verb() == "stream" ? TrackKind::Stream : TrackKind::Annotation;
        track.device = DeviceId{static_cast<std::uint32_t>(line.toNumber(line.word(0)))};
        track.stream = StreamId{static_cast<std::uint32_t>(line.toNumber(line.word(1)))};
        track.name = std::string(line.verb()) + " " + line.word(1);
    } else if (line.verb() == "counter") {
        track.kind = TrackKind::Counter;
        track.name = line.word(0);
    } else {
        return false;
    }
    selectTrack(line, std::move(track), words);
    return true;
}

void TextFeeder::State::selectTrack(const TextLine& line, Track track, std::size_t words)
{
    line.expect(words, {"name", "pid", "tid", "unit", "process", "sort", "process_sort"});
    std::string key = track.name + (words == 2 ? "/" + line.word(0) : std::string{});
    const auto [found, isNew] = tracks.try_emplace({track.kind, std::move(key)});
    if (isNew) {
        if (const std::string* name = line.option("name"))
            track.name = *name;
        if (const std::string* unit = line.option("unit"))
            track.unit = *unit;
        if (const std::string* process = line.option("process"))
            track.processName = *process;
        track.pid = line.number("pid", 0);
        track.tid = line.number("tid", 0);
        track.sortIndex = static_cast<std::int32_t>(line.number("sort", 0));
        track.processSortIndex = static_cast<std::int32_t>(line.number("process_sort", 0));
        found->second = builder.addTrack(std::move(track));
    }
    current = found->second;
}

void TextFeeder::State::traceLine(const TextLine& line)
{
    if (line.verb() == "meta") {
        builder.setMetadata(line.word(0), line.rest(1));
    } else if (line.verb() == "format") {
        line.expect(1, {});
        builder.setFormat(line.word(0));
    } else if (line.verb() == "device") {
        const auto index = static_cast<std::uint32_t>(line.toNumber(line.word(0)));
        Device device{DeviceId{index}, line.word(1), line.words() > 2 ? line.word(2) : ""};
        device.computeMajor = static_cast<int>(line.number("sm", 0) / 10);
        device.computeMinor = static_cast<int>(line.number("sm", 0) % 10);
        device.memoryBytes = line.number("memory", 0);
        device.multiprocessors = static_cast<int>(line.number("sms", 0));
        builder.addDevice(std::move(device));
    } else if (line.verb() == "lost") {
        lost(line);
    } else {
        line.fail(fmt::format("unknown verb '{}'", line.verb()));
    }
}

void TextFeeder::State::lost(const TextLine& line)
{
    line.expect(0, {"dropped", "unmatched", "cut", "live", "note"});
    CaptureStats& stats = builder.captureStats();
    stats.dropped += static_cast<std::uint64_t>(line.number("dropped", 0));
    stats.unmatched += static_cast<std::uint64_t>(line.number("unmatched", 0));
    stats.cut |= line.has("cut");
    stats.live |= line.has("live");
    if (const std::string* note = line.option("note"))
        stats.notes.push_back({{}, {}, *note});
}

std::string TextFeeder::State::sliceName(const TextLine& line, Slice& slice, const Turn& turn)
{
    std::string name = line.word(0);
    if (slice.kind == ActivityKind::Step) {
        slice.args.value = line.toNumber(name) + turn.index;
        name = "step";
    } else if (slice.kind == ActivityKind::GpuMemcpy) {
        slice.args.copy = named(line, name, CopyKind::HtoH, copyKindName);
        name = "Memcpy " + name;
    }
    if (const std::string* other = line.option("name"))
        name = *other;
    return name;
}

LaunchConfig TextFeeder::State::launch(const TextLine& line)
{
    LaunchConfig launch;
    const auto sizes = [&](const char* name, std::array<std::uint32_t, 3>& to) {
        const std::string* const text = line.option(name);
        if (text && std::sscanf(text->c_str(), "%u,%u,%u", &to[0], &to[1], &to[2]) != 3)
            line.fail(fmt::format("{}= needs three numbers: 8,1,1", name));
    };
    const auto figure = [&](const char* name, std::optional<std::uint32_t>& to) {
        if (line.option(name))
            to = static_cast<std::uint32_t>(line.number(name, 0));
    };
    sizes("grid", launch.grid);
    sizes("block", launch.block);
    figure("registers", launch.registers);
    figure("shared", launch.sharedMemory);
    figure("dynamic", launch.dynamicSharedMemory);
    figure("local", launch.localMemory);
    return launch;
}

void TextFeeder::State::readArgs(const TextLine& line, Slice& slice)
{
    slice.externalId = static_cast<std::uint32_t>(line.number("ext", 0));
    if (const std::string* shapes = line.option("shapes"))
        slice.args.shapes = builder.intern(*shapes);
    if (const std::string* types = line.option("types"))
        slice.args.types = builder.intern(*types);
    slice.args.launch = builder.internLaunch(launch(line));
    if (line.option("dev"))
        slice.args.device = DeviceId{static_cast<std::uint32_t>(line.number("dev", 0))};
    if (line.option("on"))
        slice.args.stream = StreamId{static_cast<std::uint32_t>(line.number("on", 0))};
}

void TextFeeder::State::sliceLine(const TextLine& line, ActivityKind kind, const Turn& turn)
{
    line.expect(3, {"value",  "bytes", "corr", "seq", "src",  "dst",   "depth",     "async",  "backward", "name", "ext",
                    "shapes", "types", "dev",  "on",  "grid", "block", "registers", "shared", "dynamic",  "local"});
    if (!current)
        line.fail("there is no track yet: add a line with main, thread, worker or stream first");
    Slice slice;
    slice.kind = kind;
    slice.name = builder.intern(sliceName(line, slice, turn));
    slice.begin = traceTime(line.toTime(line.word(1)) + turn.shift);
    if (line.option("value"))
        slice.args.value = line.number("value", 0) + turn.index;
    slice.args.bytes = line.number("bytes", 0);
    slice.args.src = memoryKind(line, "src");
    slice.args.dst = memoryKind(line, "dst");
    readArgs(line, slice);
    slice.depth = static_cast<std::uint8_t>(line.number("depth", TraceBuilder::kUnknownDepth));
    if (line.option("corr"))
        slice.correlation =
            CorrelationId{static_cast<std::uint64_t>(line.number("corr", 0) + turn.index * Turn::kLinkStride)};
    if (line.option("seq"))
        slice.sequence = line.number("seq", 0) + turn.index * Turn::kLinkStride;
    slice.flags = static_cast<std::uint8_t>((line.has("async") ? slice_flag::kAsync : 0) |
                                            (line.has("backward") ? slice_flag::kBackward : 0));
    if (line.word(2) == "open") {
        builder.begin(*current, slice);
        return;
    }
    slice.duration = Nanoseconds{line.toTime(line.word(2))};
    if (slice.duration.count() < 0)
        line.fail("a duration must not be negative");
    builder.add(*current, slice);
}

TextFeeder::TextFeeder(TraceBuilder& builder) : m(std::make_unique<State>(builder)) {}
TextFeeder::~TextFeeder() = default;
void TextFeeder::feed(std::string_view text)
{
    m->feed(text);
}

std::shared_ptr<const Trace> traceFromText(std::string_view text)
{
    TraceBuilder builder;
    TextFeeder{builder}.feed(text);
    return builder.finish();
}

} // namespace test_support
