#include "profiler/formats/pytorch/memory_snapshot.h"

#include "profiler/formats/open/source_file.h"
#include "profiler/formats/pytorch/pickle.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

namespace profiler::formats::memory {

namespace {

using pickle::Document;
using pickle::Ref;

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30;
constexpr std::size_t kMostHolders = 200; ///< at a peak; the others are summed up
constexpr std::size_t kMostFrames = 64;   ///< in the text of a stack; the outer ones are dropped, except Python's
constexpr std::size_t kMostPython = 256;  ///< Python frames that are kept beyond that
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50; ///< larger sizes are damage
constexpr std::int64_t kLatestUs = std::int64_t{1} << 51;  ///< the year 2041; later times are damage
constexpr std::int64_t kNsPerUs = 1000;

std::string_view textAt(const Document& document, Ref dict, std::string_view key)
{
    const auto value = document.find(dict, key);
    return value ? document.text(*value) : std::string_view();
}

/// Zero if there is none.
std::int64_t integerAt(const Document& document, Ref dict, std::string_view key)
{
    const auto value = document.find(dict, key);
    return value ? document.integer(*value).value_or(0) : 0;
}

std::int64_t bytesAt(const Document& document, Ref dict, std::string_view key)
{
    return std::clamp<std::int64_t>(integerAt(document, dict, key), 0, kMostBytes);
}

std::span<const Ref> listAt(const Document& document, Ref dict, std::string_view key)
{
    const auto value = document.find(dict, key);
    return value && document.kind(*value) == Document::Kind::List ? document.elements(*value) : std::span<const Ref>();
}

/// The stacks of events. Most events share theirs with many others.
class Stacks final : public ArgSource {
public:
    /// A number from 1 on; 0 for no stack.
    std::uint32_t add(const Document& document, Ref owner)
    {
        const auto frames = listAt(document, owner, "frames");
        if (frames.empty())
            return 0;
        std::string stack;
        std::optional<std::string> program, python;
        std::size_t count = 0, pythonCount = 0;
        for (const Ref frame : frames) {
            const std::string_view file = textAt(document, frame, "filename"), name = textAt(document, frame, "name");
            const std::string place = std::string(file) + ':' + std::to_string(integerAt(document, frame, "line"));
            const bool isPython = file.ends_with(".py");
            const bool isProgram = isPython && file.find("/torch/") == std::string_view::npos;
            // Python frames are kept however deep the stack is: they name the program and the part of the step.
            if (++count <= kMostFrames || (isPython && ++pythonCount <= kMostPython) || (isProgram && !program))
                stack += (stack.empty() ? "" : "\n") + place + " " + std::string(name);
            if (!isPython)
                continue;
            if (!python)
                python = place;
            if (!program && isProgram)
                program = place;
        }
        const auto [known, isNew] = m_numbers.try_emplace(stack, static_cast<std::uint32_t>(m_stacks.size() + 1));
        if (isNew)
            m_stacks.push_back({std::move(stack), program ? *program : python.value_or(std::string())});
        return known->second;
    }
    /// The frames, one per line; empty for no stack.
    [[nodiscard]] std::string_view text(std::uint32_t stack) const
    {
        return stack == 0 ? std::string_view() : m_stacks[stack - 1].text;
    }
    /// The innermost line of the user's program, otherwise of Python: "/home/me/train.py:41"; may be empty.
    [[nodiscard]] const std::string& line(std::uint32_t stack) const
    {
        static const std::string none;
        return stack == 0 ? none : m_stacks[stack - 1].line;
    }

    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override
    {
        if (source == 0 || source > m_stacks.size())
            return SliceDetails{};
        return SliceDetails{{"Call stack", m_stacks[source - 1].text}};
    }

private:
    struct Stack {
        std::string text, line;
    };
    std::unordered_map<std::string, std::uint32_t> m_numbers;
    std::vector<Stack> m_stacks;
};

struct Event {
    enum class Kind : std::uint8_t { Allocate, FreeRequested, FreeCompleted, Reserve, Release, OutOfMemory, Other };
    Kind kind = Kind::Other;
    std::string_view action;
    std::int64_t ns = 0, bytes = 0, address = 0, stream = 0;
    std::uint32_t stack = 0;
};

Event::Kind kindOf(std::string_view action)
{
    constexpr std::pair<std::string_view, Event::Kind> kKinds[] = {
        {"alloc", Event::Kind::Allocate},        {"free_requested", Event::Kind::FreeRequested},
        {"free", Event::Kind::FreeRequested},    {"free_completed", Event::Kind::FreeCompleted},
        {"segment_alloc", Event::Kind::Reserve}, {"segment_map", Event::Kind::Reserve},
        {"segment_free", Event::Kind::Release},  {"segment_unmap", Event::Kind::Release},
        {"oom", Event::Kind::OutOfMemory}};
    for (const auto& [name, kind] : kKinds)
        if (name == action)
            return kind;
    return Event::Kind::Other;
}

/// Memory of one line, or of one phase, that is alive at one moment.
struct Holder {
    std::int64_t bytes = 0, blocks = 0;
};
using Holders = std::map<std::string, Holder>;

/// "bytes TAB blocks TAB step TAB phase TAB operator" for each holder, as analysis::memoryMoments() reads them.
std::string holderLines(const Holders& holders)
{
    std::vector<std::pair<std::string, Holder>> sorted(holders.begin(), holders.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
    std::string text;
    Holder rest;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        auto& [place, holder] = sorted[i];
        if (i >= kMostHolders) {
            rest.bytes += holder.bytes;
            rest.blocks += holder.blocks;
            continue;
        }
        std::replace_if(
            place.begin(), place.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
        text += std::to_string(holder.bytes) + '\t' + std::to_string(holder.blocks) + "\t-\t-\t" +
                (place.empty() ? "-" : place) + '\n';
    }
    if (rest.blocks > 0)
        text += std::to_string(rest.bytes) + '\t' + std::to_string(rest.blocks) + "\trest\t-\t-\n";
    return text;
}

/// The state of a device's segments at the end of its history.
struct Segments {
    std::int64_t allocated = 0, reserved = 0;
    struct Block {
        std::int64_t bytes = 0;
        std::uint32_t stack = 0;
    };
    std::unordered_map<std::int64_t, Block> blocks; ///< allocated ones, by address
    std::string lines;                              ///< "S" and "B" lines, see segmentLines()
};

class Importer {
public:
    Importer(const Document& document, const ReadOptions& options)
        : m_document(document), m_options(options), m_stacks(std::make_shared<Stacks>())
    {
    }

    /// Null if it was stopped.
    std::shared_ptr<const Trace> run()
    {
        const Ref root = m_document.root();
        m_builder.setFormat("pytorch-memory");
        readSegments(listAt(m_document, root, "segments"));
        const auto devices = listAt(m_document, root, "device_traces");
        for (const auto& [device, segments] : m_segments)
            if (device >= 0)
                m_builder.setMetadata("memory.segments.gpu" + std::to_string(device), segmentLines(segments));
        for (std::size_t device = 0; device < devices.size() && !m_options.stop.stop_requested(); ++device) {
            if (m_document.kind(devices[device]) == Document::Kind::List)
                addDevice(static_cast<std::uint32_t>(device), m_document.elements(devices[device]));
            if (m_options.progress)
                m_options.progress(0.5 + 0.4 * static_cast<double>(device + 1) / static_cast<double>(devices.size()));
        }
        if (m_lacksTimes)
            m_builder.captureStats().notes.push_back(
                message<"snapshot.no_times", "The snapshot does not record times: its events are shown "
                                             "one microsecond apart.">());
        m_builder.setArgSource(m_stacks);
        return m_builder.finish(1, m_options.stop);
    }

private:
    void readSegments(std::span<const Ref> segments)
    {
        for (const Ref segment : segments) {
            Segments& of = m_segments[integerAt(m_document, segment, "device")];
            of.reserved += bytesAt(m_document, segment, "total_size");
            of.allocated += bytesAt(m_document, segment, "allocated_size");
            std::int64_t address = integerAt(m_document, segment, "address");
            const std::int64_t start = address;
            addSegmentLine(of.lines, segment);
            for (const Ref block : listAt(m_document, segment, "blocks")) {
                const std::int64_t bytes = bytesAt(m_document, block, "size");
                // Versions before 2.1 do not store the address of a block; blocks follow each other.
                const auto stored = m_document.find(block, "address");
                const std::int64_t at = stored ? m_document.integer(*stored).value_or(address) : address;
                const std::string_view state = textAt(m_document, block, "state");
                const bool isAllocated = state == "active_allocated";
                const std::uint32_t stack = isAllocated ? m_stacks->add(m_document, block) : 0;
                if (isAllocated)
                    of.blocks[at] = {bytes, stack};
                // "active_pending_free" and, in newer versions, "active_awaiting_free"
                const char* const shown = isAllocated ? "a" : state.starts_with("active") ? "p" : "f";
                const auto offset =
                    static_cast<std::int64_t>(static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(start));
                of.lines += "B\t" + std::to_string(offset) + '\t' + std::to_string(bytes) + '\t' + shown + '\t' +
                            std::to_string(stack) + '\n';
                address = static_cast<std::int64_t>(static_cast<std::uint64_t>(at) + static_cast<std::uint64_t>(bytes));
            }
        }
    }

    void addSegmentLine(std::string& lines, Ref segment) const
    {
        std::string type(textAt(m_document, segment, "segment_type"));
        std::replace_if(
            type.begin(), type.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
        const auto expandable = m_document.find(segment, "is_expandable");
        lines += "S\t" + std::to_string(static_cast<std::uint64_t>(integerAt(m_document, segment, "address"))) + '\t' +
                 std::to_string(bytesAt(m_document, segment, "total_size")) + '\t' +
                 std::to_string(bytesAt(m_document, segment, "allocated_size")) + '\t' +
                 std::to_string(integerAt(m_document, segment, "stream")) + '\t' + type + '\t' +
                 (expandable && m_document.integer(*expandable).value_or(0) != 0 ? "1" : "0") + '\n';
    }

    /// The segments at the end of the history, as analysis::readAllocatorHistory() reads them, with tabs between
    /// fields: "F number stack" for each stack of an allocated block (frames separated by U+001F), "S address bytes
    /// allocated stream type expandable" for each segment, and after it its blocks: "B offset bytes state stack" with
    /// the states a (allocated), p (pending free) and f (free). Stack 0: none.
    [[nodiscard]] std::string segmentLines(const Segments& segments) const
    {
        std::set<std::uint32_t> stacks;
        for (const auto& [address, block] : segments.blocks)
            if (block.stack != 0)
                stacks.insert(block.stack);
        std::string text;
        for (const std::uint32_t stack : stacks) {
            std::string frames(m_stacks->text(stack));
            std::replace(frames.begin(), frames.end(), '\n', '\x1f');
            text += "F\t" + std::to_string(stack) + '\t' + frames + '\n';
        }
        return text + segments.lines;
    }

    std::vector<Event> eventsOf(std::span<const Ref> entries)
    {
        std::vector<Event> events;
        events.reserve(entries.size());
        for (const Ref entry : entries) {
            Event event;
            event.action = textAt(m_document, entry, "action");
            if (event.action.empty())
                continue;
            event.kind = kindOf(event.action);
            event.bytes = bytesAt(m_document, entry, "size");
            event.address = integerAt(m_document, entry, "addr");
            event.stream = integerAt(m_document, entry, "stream");
            event.stack = m_stacks->add(m_document, entry);
            const std::int64_t us = integerAt(m_document, entry, "time_us");
            m_lacksTimes = m_lacksTimes || us <= 0;
            event.ns =
                us > 0 ? std::min(us, kLatestUs) * kNsPerUs : static_cast<std::int64_t>(events.size() + 1) * kNsPerUs;
            events.push_back(event);
        }
        return events;
    }

    void addDevice(std::uint32_t device, std::span<const Ref> entries)
    {
        const std::vector<Event> events = eventsOf(entries);
        if (events.empty())
            return;
        const std::string place = "GPU " + std::to_string(device);
        // A history without segments is one of an allocator that has released all of them.
        if (!m_segments.contains(device))
            m_builder.setMetadata("memory.segments.gpu" + std::to_string(device), "none");
        Track track;
        track.kind = TrackKind::Stream;
        track.name = "allocator";
        track.device = DeviceId{device};
        const TrackId id = m_builder.addTrack(track);
        Device known;
        known.id = DeviceId{device};
        known.name = place;
        m_builder.addDevice(known);
        std::vector<RawSlice> slices;
        slices.reserve(events.size());
        for (const Event& event : events)
            slices.push_back(sliceOf(event));
        m_builder.addMany(id, std::move(slices), Depth::Inferred);
        addCounters(place, events, m_segments[device]);
        addMoments("gpu" + std::to_string(device), events, m_segments[device]);
    }

    RawSlice sliceOf(const Event& event)
    {
        const std::string& line = m_stacks->line(event.stack);
        const std::size_t folder = line.rfind('/');
        std::string name(event.action);
        if (!line.empty())
            name += ' ' + (folder == std::string::npos ? line : line.substr(folder + 1));
        SliceArgs args;
        args.bytes = event.bytes;
        args.value = event.address;
        args.stream = StreamId{static_cast<std::uint32_t>(event.stream)};
        RawSlice slice;
        slice.begin = event.ns;
        slice.kind = ActivityKind::Other;
        slice.name = m_builder.intern(name).value;
        slice.args = m_builder.internArgs(args);
        slice.setSource(event.stack);
        return slice;
    }

    static std::int64_t changeOfAllocated(const Event& event)
    {
        return event.kind == Event::Kind::Allocate        ? event.bytes
               : event.kind == Event::Kind::FreeRequested ? -event.bytes
                                                          : 0;
    }
    static std::int64_t changeOfReserved(const Event& event)
    {
        return event.kind == Event::Kind::Reserve ? event.bytes : event.kind == Event::Kind::Release ? -event.bytes : 0;
    }
    /// The value before the history. The snapshot records the last value, and the history may be cut at its start.
    template <class Change>
    static std::int64_t first(const std::vector<Event>& events, std::int64_t last, Change&& change)
    {
        for (const Event& event : events)
            last -= change(event);
        return std::max<std::int64_t>(last, 0);
    }

    template <class Change>
    void addCounter(const std::string& name, const std::vector<Event>& events, std::int64_t last, Change&& change)
    {
        Track track;
        track.kind = TrackKind::Counter;
        track.name = name;
        track.unit = "bytes";
        std::vector<CounterSample> samples;
        std::int64_t value = first(events, last, change);
        samples.push_back({traceTime(events.front().ns), static_cast<double>(value)});
        for (const Event& event : events)
            if (const std::int64_t difference = change(event)) {
                value += difference;
                samples.push_back({traceTime(event.ns), static_cast<double>(value)});
            }
        m_builder.addSamples(m_builder.addTrack(track), std::move(samples), SampleMeaning::Value);
    }

    void addCounters(const std::string& place, const std::vector<Event>& events, const Segments& segments)
    {
        addCounter(place + " memory allocated", events, segments.allocated, changeOfAllocated);
        addCounter(place + " memory reserved", events, segments.reserved, changeOfReserved);
    }

    /// The allocations that are alive after the first `count` events, by line.
    Holders aliveAfter(const std::vector<Event>& events, std::size_t count, const Segments& segments) const
    {
        // Blocks without an allocation in the history were allocated before it.
        std::unordered_map<std::int64_t, Segments::Block> alive = segments.blocks;
        for (auto event = events.rbegin(); event != events.rend(); ++event) {
            if (event->kind == Event::Kind::Allocate)
                alive.erase(event->address);
            else if (event->kind == Event::Kind::FreeRequested)
                alive[event->address] = {event->bytes, 0};
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (events[i].kind == Event::Kind::Allocate)
                alive[events[i].address] = {events[i].bytes, events[i].stack};
            else if (events[i].kind == Event::Kind::FreeRequested)
                alive.erase(events[i].address);
        }
        Holders holders;
        for (const auto& [address, block] : alive) {
            Holder& holder = holders[m_stacks->line(block.stack)];
            holder.bytes += block.bytes;
            ++holder.blocks;
        }
        return holders;
    }

    void addMoments(const std::string& key, const std::vector<Event>& events, const Segments& segments)
    {
        std::int64_t value = first(events, segments.allocated, changeOfAllocated), peak = value;
        std::size_t peakAt = 0;
        std::optional<std::size_t> failedAt;
        std::int64_t failedWith = 0;
        for (std::size_t i = 0; i < events.size(); ++i) {
            value += changeOfAllocated(events[i]);
            if (value > peak) {
                peak = value;
                peakAt = i + 1;
            }
            if (events[i].kind == Event::Kind::OutOfMemory) {
                failedAt = i;
                failedWith = value;
            }
        }
        setMoment("memory.peak." + key, peak, aliveAfter(events, peakAt, segments));
        if (failedAt) {
            setMoment("memory.out." + key, failedWith, aliveAfter(events, *failedAt, segments));
            m_builder.setMetadata("memory.out." + key + ".asked", std::to_string(events[*failedAt].bytes));
        }
    }
    void setMoment(const std::string& key, std::int64_t bytes, const Holders& holders)
    {
        m_builder.setMetadata(key, std::to_string(std::max<std::int64_t>(bytes, 0)));
        m_builder.setMetadata(key + ".alive", holderLines(holders));
    }

    const Document& m_document;
    const ReadOptions& m_options;
    std::shared_ptr<Stacks> m_stacks;
    std::map<std::int64_t, Segments> m_segments; ///< by device
    TraceBuilder m_builder;
    bool m_lacksTimes = false;
};

Result<std::string> bytesOf(const std::filesystem::path& path)
{
    const auto file = SourceFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    if (file->size() > kLargestFile)
        return fail<"snapshot.too_large", "the memory snapshot is larger than {limit}">(
            Error::Code::Unsupported, path.string(), "record fewer entries: _record_memory_history(max_entries=…)",
            {{"limit", static_cast<std::int64_t>(kLargestFile), "1 GiB"}});
    std::string bytes(static_cast<std::size_t>(file->size()), '\0');
    int error = 0;
    bytes.resize(file->read(0, bytes, error));
    if (error != 0)
        return tl::unexpected(readError(error, path));
    return bytes;
}

} // namespace

Result<std::shared_ptr<const Trace>> readSnapshot(const std::filesystem::path& path, const ReadOptions& options)
{
    const auto bytes = bytesOf(path);
    if (!bytes)
        return tl::unexpected(bytes.error());
    const auto document = pickle::read(*bytes, path.string());
    if (!document)
        return tl::unexpected(document.error());
    if (options.progress)
        options.progress(0.5);
    if (listAt(*document, document->root(), "segments").empty() &&
        listAt(*document, document->root(), "device_traces").empty())
        return fail<"snapshot.none", "the pickle contains no memory snapshot">(
            Error::Code::Malformed, path.string(),
            "save one with torch.cuda.memory._dump_snapshot() after _record_memory_history()");
    auto trace = Importer(*document, options).run();
    if (!trace || options.stop.stop_requested())
        return fail<"snapshot.stopped", "reading was stopped">(Error::Code::Cancelled, path.string());
    return trace;
}

} // namespace profiler::formats::memory
