#include "profiler/analysis/memory/allocator_history.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace profiler::analysis {

namespace {

struct Frame {
    std::string_view file, function;
    std::int64_t line = 0;
};

/// "file:line function"; a file may contain colons and blanks.
Frame frameOf(std::string_view text)
{
    for (std::size_t colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
        std::int64_t line = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data() + colon + 1, end, line);
        if (read.ec != std::errc{} || (read.ptr != end && *read.ptr != ' '))
            continue;
        const auto after = std::min<std::size_t>(static_cast<std::size_t>(read.ptr - text.data()) + 1, text.size());
        return {text.substr(0, colon), text.substr(after), line};
    }
    return {text, {}, 0};
}

bool has(std::string_view text, std::string_view part)
{
    return text.find(part) != text.npos;
}

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), text) != names.end();
}

AllocationOrigin originOf(const Frame& frame)
{
    // The engine's own frames are C++; snapshots contain them unless they were recorded with stacks="python".
    if (has(frame.function, "torch::autograd::Engine") || has(frame.function, "torch::autograd::AccumulateGrad"))
        return AllocationOrigin::Backward;
    if (has(frame.file, "/torch/autograd/") && isOneOf(frame.function, {"backward", "grad", "_engine_run_backward"}))
        return AllocationOrigin::Backward;
    if (has(frame.file, "/torch/optim/"))
        return isOneOf(frame.function, {"zero_grad", "__init__", "add_param_group"}) ? AllocationOrigin::Unknown
                                                                                     : AllocationOrigin::Optimizer;
    if (frame.file.ends_with("/torch/nn/modules/module.py")) {
        if (isOneOf(frame.function, {"_call_impl", "_wrapped_call_impl"}))
            return AllocationOrigin::Forward;
        if (isOneOf(frame.function, {"_apply", "convert", "to", "cuda", "half", "float", "double", "bfloat16",
                                     "to_empty", "load_state_dict", "_load_from_state_dict"}))
            return AllocationOrigin::Construction;
    }
    if (has(frame.file, "/torch/nn/") && isOneOf(frame.function, {"__init__", "reset_parameters", "_reset_parameters"}))
        return AllocationOrigin::Construction;
    return AllocationOrigin::Unknown;
}

/// zero_grad() ends the search for an origin: what it frees was not freed by its callers.
bool endsSearch(const Frame& frame)
{
    return frame.function == "zero_grad" &&
           (has(frame.file, "/torch/optim/") || frame.file.ends_with("/torch/nn/modules/module.py"));
}

/// The text between `before` and the next "::"; empty if `function` does not contain `before`.
std::string_view nameAfter(std::string_view function, std::string_view before)
{
    const std::size_t at = function.find(before);
    if (at == function.npos)
        return {};
    const std::string_view name = function.substr(at + before.size());
    return name.substr(0, name.find("::"));
}

/// Finds the operator that a stack belongs to. Operators call others, and the outermost one is what the program called,
/// but a node of autograd says more than the operators that it calls.
class OperatorOfStack {
public:
    /// Call with the frames, the innermost first, up to the first one of Python.
    void add(std::string_view function)
    {
        if (m_isNode)
            return;
        if (has(function, "::apply")) {
            std::string_view node = nameAfter(function, "torch::autograd::generated::");
            if (node.empty())
                node = nameAfter(function, "torch::autograd::");
            m_isNode = has(node, "Backward") || node == "AccumulateGrad";
            if (m_isNode)
                m_op = node;
        }
        if (const std::string_view name = nameAfter(function, "at::_ops::"); !m_isNode && !name.empty())
            m_op = "aten::" + std::string(withoutOverload(name));
    }
    [[nodiscard]] const std::string& op() const { return m_op; }

private:
    /// Generated names join the operator and its overload: "add_Tensor", "to_dtype_layout". An overload is recognized
    /// by its capital or by common words; another one remains part of the name.
    static std::string_view withoutOverload(std::string_view name)
    {
        for (std::size_t at = name.find('_', 1); at != name.npos; at = name.find('_', at + 1))
            if (at + 1 < name.size() && std::isupper(static_cast<unsigned char>(name[at + 1])) != 0) {
                name = name.substr(0, at);
                break;
            }
        constexpr std::string_view kWords[] = {"_dim", "_dtype", "_layout", "_out", "_start", "_step", "_self"};
        for (auto word = std::begin(kWords); word != std::end(kWords);) {
            const bool ends = name.size() > word->size() && name.ends_with(*word);
            name.remove_suffix(ends ? word->size() : 0);
            word = ends ? std::begin(kWords) : std::next(word);
        }
        return name;
    }

    std::string m_op;
    bool m_isNode = false;
};

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50; ///< larger sizes are damage
constexpr std::size_t kCheckStop = 4096;                   ///< events between two looks at the stop token

using Kind = AllocatorEvent::Kind;

struct Action {
    std::string_view name;
    Kind kind;
    bool isMapping = false;
};
constexpr Action kActions[] = {{"alloc", Kind::Allocate},
                               {"free_requested", Kind::Free},
                               {"free", Kind::Free},
                               {"segment_alloc", Kind::Reserve},
                               {"segment_map", Kind::Reserve, true},
                               {"segment_free", Kind::Release},
                               {"segment_unmap", Kind::Release, true},
                               {"oom", Kind::OutOfMemory}};

/// Stacks by text, so that each is read once.
class StackTable {
public:
    explicit StackTable(std::vector<AllocationStack>& stacks) : m_stacks(stacks) { m_stacks.emplace_back(); }

    std::uint32_t add(const std::string& text)
    {
        if (text.empty())
            return 0;
        const auto [known, isNew] = m_numbers.try_emplace(text, static_cast<std::uint32_t>(m_stacks.size()));
        if (isNew)
            m_stacks.push_back(readAllocationStack(text));
        return known->second;
    }

private:
    std::vector<AllocationStack>& m_stacks;
    std::unordered_map<std::string, std::uint32_t> m_numbers;
};

/// The stack of each place in the source of details.
std::unordered_map<std::uint64_t, std::uint32_t> stacksOf(const Trace& trace, const std::vector<Slice>& slices,
                                                          StackTable& table)
{
    std::vector<std::uint64_t> places;
    for (const Slice& slice : slices)
        if (slice.source != 0)
            places.push_back(slice.source);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    std::unordered_map<std::uint64_t, std::uint32_t> found;
    if (!trace.argSource())
        return found;
    std::size_t next = 0;
    trace.argSource()->readMany(places, [&](const Result<SliceDetails>& details) {
        if (details)
            for (const auto& [name, text] : *details)
                if (name == "Call stack")
                    found[places[next]] = table.add(text);
        return ++next < places.size();
    });
    return found;
}

std::vector<AllocatorEvent> eventsOf(const Trace& trace, TrackId track, StackTable& table)
{
    const std::vector<Slice> slices = trace.sorted(track);
    const auto stacks = stacksOf(trace, slices, table);
    std::unordered_map<std::uint32_t, Action> actions; // by name of the slice
    std::vector<AllocatorEvent> events;
    events.reserve(slices.size());
    for (const Slice& slice : slices) {
        const auto [known, isNew] = actions.try_emplace(slice.name.value, Action{{}, Kind::Other});
        if (isNew) {
            const std::string_view name = trace.name(slice);
            for (const Action& action : kActions)
                if (action.name == name.substr(0, name.find(' ')))
                    known->second = action;
        }
        AllocatorEvent event;
        event.kind = known->second.kind;
        event.isMapping = known->second.isMapping;
        event.time = slice.begin;
        event.address = static_cast<std::uint64_t>(slice.args.value);
        event.bytes = std::clamp<std::int64_t>(slice.args.bytes, 0, kMostBytes);
        const auto stack = stacks.find(slice.source);
        event.stack = stack == stacks.end() ? 0 : stack->second;
        event.slice = slice.id;
        events.push_back(event);
    }
    return events;
}

/// Removes and returns the text up to `end`; `end` itself is also removed.
std::string_view takeUntil(std::string_view& text, char end)
{
    const std::size_t at = std::min(text.find(end), text.size());
    const std::string_view taken = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return taken;
}

template <class Number>
Number takeNumber(std::string_view& line)
{
    const std::string_view text = takeUntil(line, '\t');
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::int64_t takeBytes(std::string_view& line)
{
    return std::clamp<std::int64_t>(takeNumber<std::int64_t>(line), 0, kMostBytes);
}

struct ReadSegments {
    std::vector<AllocatorSegment> segments;
    std::vector<std::vector<std::uint32_t>> stacks; ///< by segment and block
};

/// Lines of the importer (profiler/formats/pytorch/memory_snapshot.cpp), with fields separated by tabs:
/// "F number stack" (frames separated by U+001F), "S address bytes allocated stream type expandable", and after each
/// segment its blocks, "B offset bytes state stack".
ReadSegments readSegments(std::string_view text, StackTable& table)
{
    ReadSegments read;
    std::unordered_map<std::uint32_t, std::uint32_t> stacks;
    while (!text.empty()) {
        std::string_view line = takeUntil(text, '\n');
        const std::string_view kind = takeUntil(line, '\t');
        if (kind == "F") {
            const auto number = takeNumber<std::uint32_t>(line);
            std::string stack(line);
            std::replace(stack.begin(), stack.end(), '\x1f', '\n');
            stacks[number] = table.add(stack);
        } else if (kind == "S") {
            AllocatorSegment segment;
            segment.address = takeNumber<std::uint64_t>(line);
            segment.bytes = takeBytes(line);
            segment.allocated = std::min(takeBytes(line), segment.bytes);
            segment.stream = takeNumber<std::int64_t>(line);
            segment.type = std::string(takeUntil(line, '\t'));
            segment.expandable = line == "1";
            read.segments.push_back(std::move(segment));
            read.stacks.emplace_back();
        } else if (kind == "B" && !read.segments.empty()) {
            SegmentBlock block;
            block.offset = takeBytes(line);
            block.bytes = takeBytes(line);
            const std::string_view state = takeUntil(line, '\t');
            block.state = state == "a"   ? SegmentBlock::State::Allocated
                          : state == "p" ? SegmentBlock::State::PendingFree
                                         : SegmentBlock::State::Free;
            const auto stack = stacks.find(takeNumber<std::uint32_t>(line));
            read.segments.back().blocks.push_back(std::move(block));
            read.stacks.back().push_back(stack == stacks.end() ? 0 : stack->second);
        }
    }
    return read;
}

MemoryCategory keptBy(AllocationOrigin origin)
{
    switch (origin) {
    case AllocationOrigin::Construction:
        return MemoryCategory::Parameters;
    case AllocationOrigin::Forward:
        return MemoryCategory::Activations;
    case AllocationOrigin::Backward:
        return MemoryCategory::Gradients;
    case AllocationOrigin::Optimizer:
        return MemoryCategory::OptimizerState;
    case AllocationOrigin::Unknown:
        break;
    }
    return MemoryCategory::Uncategorised;
}

/// For each allocation, the next one in another part of the step, and the next one from another line. Allocations
/// without a stack are skipped: other threads of the program make them.
struct NextAllocation {
    std::vector<std::size_t> origin, line; ///< by event; kNone if there is none

    explicit NextAllocation(const AllocatorHistory& history)
        : origin(history.events.size(), kNone), line(history.events.size(), kNone)
    {
        std::size_t next = kNone;
        for (std::size_t i = history.events.size(); i-- > 0;) {
            const AllocatorEvent& event = history.events[i];
            if (event.kind != Kind::Allocate || event.stack == 0)
                continue;
            if (next != kNone) {
                const AllocationStack& here = history.stacks[event.stack];
                const AllocationStack& there = history.stacks[history.events[next].stack];
                origin[i] = here.origin != there.origin ? next : origin[next];
                line[i] = here.innermost != there.innermost ? next : line[next];
            }
            next = i;
        }
    }
};

/// @param lastFailure  index of the last failed allocation; nothing is known about the part of a step that it ended
MemoryCategory categoryOf(const AllocatorHistory& history, const AllocatedBlock& block, const NextAllocation& nextOther,
                          std::optional<std::size_t> lastFailure)
{
    const AllocationOrigin origin = history.stacks[block.stack].origin;
    if (origin == AllocationOrigin::Unknown)
        return MemoryCategory::Uncategorised;
    const bool isForward = origin == AllocationOrigin::Forward;
    if (block.from == AllocatedBlock::kBefore) // a forward pass's block that is never freed is not an activation
        return isForward ? MemoryCategory::Uncategorised : keptBy(origin);
    const std::size_t next = (isForward ? nextOther.line : nextOther.origin)[block.from];
    if (block.to == AllocatedBlock::kNotFreed) {
        // The program takes a snapshot between the parts of a step, except when an allocation fails.
        const bool outlivesItsPart = next != kNone || (!isForward && (!lastFailure || *lastFailure < block.from));
        return origin == AllocationOrigin::Construction || outlivesItsPart ? keptBy(origin)
                                                                           : MemoryCategory::Uncategorised;
    }
    const AllocatorEvent& end = history.events[block.to];
    const AllocationStack& freeing = history.stacks[end.kind == Kind::Free ? end.stack : 0];
    if (next < block.to || (freeing.hasFrames && freeing.origin != origin))
        return keptBy(origin);
    // Without the stack that freed it, it may be a gradient that zero_grad() dropped.
    return origin == AllocationOrigin::Backward && !freeing.hasFrames ? MemoryCategory::Uncategorised
                                                                      : MemoryCategory::Temporaries;
}

/// Pairs allocations with deallocations by address.
void findBlocks(AllocatorHistory& history, const ReadSegments& atEnd, const std::stop_token& stop)
{
    history.blockOf.assign(history.events.size(), 0);
    std::unordered_map<std::uint64_t, std::uint32_t> alive;
    const auto add = [&](AllocatedBlock block) {
        history.blocks.push_back(block);
        return static_cast<std::uint32_t>(history.blocks.size() - 1);
    };
    for (std::size_t i = 0; i < history.events.size(); ++i) {
        if (i % kCheckStop == 0 && stop.stop_requested())
            return;
        const AllocatorEvent& event = history.events[i];
        if (event.kind == Kind::Allocate) {
            const std::uint32_t block = add({.address = event.address, .bytes = event.bytes, .from = i});
            history.blocks[block].stack = event.stack;
            if (const auto before = alive.find(event.address); before != alive.end()) {
                history.blocks[before->second].to = i;
                history.replaced[i] = before->second;
            }
            alive[event.address] = history.blockOf[i] = block;
        } else if (event.kind == Kind::Free) {
            const auto known = alive.find(event.address);
            history.blockOf[i] =
                known != alive.end() ? known->second : add({.address = event.address, .bytes = event.bytes});
            history.blocks[history.blockOf[i]].to = i;
            if (known != alive.end())
                alive.erase(known);
        }
    }
    for (std::size_t s = 0; s < atEnd.segments.size(); ++s)
        for (std::size_t b = 0; b < atEnd.segments[s].blocks.size(); ++b) {
            const SegmentBlock& block = atEnd.segments[s].blocks[b];
            const std::uint64_t address = atEnd.segments[s].address + static_cast<std::uint64_t>(block.offset);
            if (block.state == SegmentBlock::State::Allocated && !alive.contains(address)) {
                alive[address] = add({.address = address, .bytes = block.bytes});
                history.blocks.back().stack = atEnd.stacks[s][b];
            }
        }
    history.segments = atEnd.segments;
}

/// Gives the blocks of segments what is known about their allocation.
void describeSegments(AllocatorHistory& history)
{
    std::unordered_map<std::uint64_t, const AllocatedBlock*> alive;
    for (const AllocatedBlock& block : history.blocks)
        if (block.to == AllocatedBlock::kNotFreed)
            alive[block.address] = &block;
    for (AllocatorSegment& segment : history.segments)
        for (SegmentBlock& block : segment.blocks) {
            const auto known = alive.find(segment.address + static_cast<std::uint64_t>(block.offset));
            if (block.state != SegmentBlock::State::Allocated || known == alive.end())
                continue;
            block.category = known->second->category;
            block.place = history.stacks[known->second->stack].place;
            if (known->second->from != AllocatedBlock::kBefore)
                block.allocation = history.events[known->second->from].slice;
        }
    std::stable_sort(history.segments.begin(), history.segments.end(),
                     [](const AllocatorSegment& a, const AllocatorSegment& b) {
                         return std::pair(a.free(), a.bytes) > std::pair(b.free(), b.bytes);
                     });
}

} // namespace

AllocationStack readAllocationStack(std::string_view text)
{
    AllocationStack stack;
    SourceLine library;
    OperatorOfStack op;
    bool searching = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const Frame frame = frameOf(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        stack.hasFrames = true;
        if (searching) {
            stack.origin = originOf(frame);
            searching = stack.origin == AllocationOrigin::Unknown && !endsSearch(frame);
        }
        if (!frame.file.ends_with(".py")) {
            if (stack.innermost.empty())
                op.add(frame.function);
            continue;
        }
        if (stack.innermost.empty())
            stack.innermost = std::string(frame.file) + ':' + std::to_string(frame.line);
        SourceLine& place = has(frame.file, "/torch/") ? library : stack.place;
        if (place.empty())
            place = {std::string(frame.file), frame.line, std::string(frame.function)};
    }
    if (stack.place.empty())
        stack.place = std::move(library);
    stack.op = op.op();
    return stack;
}

AllocatorHistory readAllocatorHistory(const Trace& trace, const Track* track, std::string_view segments,
                                      const std::stop_token& stop)
{
    AllocatorHistory history;
    StackTable table(history.stacks);
    if (track)
        history.events = eventsOf(trace, track->id, table);
    if (stop.stop_requested())
        return history;
    findBlocks(history, readSegments(segments, table), stop);
    if (stop.stop_requested())
        return history;
    const NextAllocation nextOther(history);
    std::optional<std::size_t> lastFailure;
    for (std::size_t i = 0; i < history.events.size(); ++i)
        if (history.events[i].kind == Kind::OutOfMemory)
            lastFailure = i;
    for (AllocatedBlock& block : history.blocks)
        block.category = categoryOf(history, block, nextOther, lastFailure);
    describeSegments(history);
    return history;
}

/// The segments of the allocator and the allocated blocks in them.
class AllocatorReplay::Segments {
public:
    /// Adds a range; a part of an expandable segment joins its neighbours.
    void add(std::uint64_t begin, std::int64_t bytes, bool isMapping)
    {
        if (bytes <= 0 || begin + static_cast<std::uint64_t>(bytes) < begin)
            return;
        remove(begin, bytes);
        std::uint64_t end = begin + static_cast<std::uint64_t>(bytes);
        if (isMapping) {
            auto next = m_segments.lower_bound(begin);
            if (next != m_segments.end() && next->first == end && next->second.isMapping) {
                end = endOf(next);
                next = erase(next);
            }
            if (next != m_segments.begin()) {
                const auto before = std::prev(next);
                if (endOf(before) == begin && before->second.isMapping) {
                    begin = before->first;
                    erase(before);
                }
            }
        }
        insert(begin, end, isMapping);
    }
    void remove(std::uint64_t begin, std::int64_t bytes)
    {
        const std::uint64_t end = begin + static_cast<std::uint64_t>(bytes);
        if (bytes <= 0 || end < begin)
            return;
        auto segment = m_segments.upper_bound(begin);
        if (segment != m_segments.begin())
            --segment;
        while (segment != m_segments.end() && segment->first < end) {
            const std::uint64_t from = segment->first, to = endOf(segment);
            if (to <= begin) {
                ++segment;
                continue;
            }
            const bool isMapping = segment->second.isMapping;
            segment = erase(segment);
            if (from < begin)
                insert(from, begin, isMapping);
            if (to > end)
                insert(end, to, isMapping);
        }
    }
    void allocate(std::uint64_t address, std::int64_t bytes)
    {
        m_blocks[address] = bytes;
        changeIn(address, bytes);
    }
    void free(std::uint64_t address)
    {
        const auto block = m_blocks.find(address);
        if (block == m_blocks.end())
            return;
        changeIn(address, -block->second);
        m_blocks.erase(block);
    }
    [[nodiscard]] std::int64_t fragmented() const { return m_fragmented; }

private:
    struct Segment {
        std::int64_t bytes = 0, allocated = 0;
        bool isMapping = false;
        [[nodiscard]] std::int64_t fragmented() const
        {
            return allocated > 0 ? std::max<std::int64_t>(bytes - allocated, 0) : 0;
        }
    };
    using Map = std::map<std::uint64_t, Segment>; ///< by address, disjoint

    static std::uint64_t endOf(Map::const_iterator segment)
    {
        return segment->first + static_cast<std::uint64_t>(segment->second.bytes);
    }
    Map::iterator erase(Map::iterator segment)
    {
        m_fragmented -= segment->second.fragmented();
        return m_segments.erase(segment);
    }
    void insert(std::uint64_t begin, std::uint64_t end, bool isMapping)
    {
        Segment segment{static_cast<std::int64_t>(end - begin), 0, isMapping};
        for (auto block = m_blocks.lower_bound(begin); block != m_blocks.end() && block->first < end; ++block)
            segment.allocated += block->second;
        m_fragmented += segment.fragmented();
        m_segments[begin] = segment;
    }
    void changeIn(std::uint64_t address, std::int64_t bytes)
    {
        auto segment = m_segments.upper_bound(address);
        if (segment == m_segments.begin())
            return;
        --segment;
        if (address >= endOf(segment))
            return;
        m_fragmented -= segment->second.fragmented();
        segment->second.allocated += bytes;
        m_fragmented += segment->second.fragmented();
    }

    Map m_segments;
    std::map<std::uint64_t, std::int64_t> m_blocks; ///< sizes by address
    std::int64_t m_fragmented = 0;
};

AllocatorReplay::AllocatorReplay(const AllocatorHistory& history)
    : m_history(history), m_segments(std::make_unique<Segments>())
{
    // The snapshot has the segments at the end; those at the start follow from the events in reverse.
    for (const AllocatorSegment& segment : history.segments)
        m_segments->add(segment.address, segment.bytes, segment.expandable);
    for (auto event = history.events.rbegin(); event != history.events.rend(); ++event) {
        if (event->kind == Kind::Reserve)
            m_segments->remove(event->address, event->bytes);
        else if (event->kind == Kind::Release)
            m_segments->add(event->address, event->bytes, event->isMapping);
    }
    for (const AllocatedBlock& block : history.blocks)
        if (block.from == AllocatedBlock::kBefore)
            change(block, 1);
    if (!history.events.empty())
        m_sample.time = history.events.front().time;
}

AllocatorReplay::~AllocatorReplay() = default;

void AllocatorReplay::change(const AllocatedBlock& block, std::int64_t sign)
{
    m_sample.bytes[static_cast<std::size_t>(block.category)] += sign * block.bytes;
    if (sign > 0)
        m_segments->allocate(block.address, block.bytes);
    else
        m_segments->free(block.address);
}

void AllocatorReplay::apply(std::size_t index)
{
    const AllocatorEvent& event = m_history.events[index];
    m_sample.time = event.time;
    switch (event.kind) {
    case Kind::Allocate:
        if (const auto replaced = m_history.replaced.find(index); replaced != m_history.replaced.end())
            change(m_history.blocks[replaced->second], -1);
        change(m_history.blocks[m_history.blockOf[index]], 1);
        break;
    case Kind::Free:
        change(m_history.blocks[m_history.blockOf[index]], -1);
        break;
    case Kind::Reserve:
        m_segments->add(event.address, event.bytes, event.isMapping);
        break;
    case Kind::Release:
        m_segments->remove(event.address, event.bytes);
        break;
    case Kind::OutOfMemory:
    case Kind::Other:
        break;
    }
    m_sample.bytes[static_cast<std::size_t>(MemoryCategory::Fragmented)] = m_segments->fragmented();
}

} // namespace profiler::analysis
