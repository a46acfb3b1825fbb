#include "profiler/analysis/memory/memory_events.h"

#include "profiler/analysis/python_frame.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/model/activity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace profiler::analysis {

namespace {

/// A block of the peak, and what ran on its thread when it was allocated.
struct Block {
    TraceTime time{};
    std::int64_t bytes = 0;
    std::string_view op; ///< innermost operator
    bool opAllocates = false;
    std::string_view place; ///< name of a Python function; empty: none
    bool placeIsOfLibrary = false;
    std::string_view phase;
    std::optional<std::int64_t> step;
    std::optional<SliceId> slice; ///< the operator, otherwise the function
};
using Thread = std::pair<std::int64_t, std::int64_t>; ///< process and thread id

/// Operators that only allocate: the operator that calls them is more informative.
bool onlyAllocates(std::string_view op)
{
    constexpr std::array<std::string_view, 7> kNames = {
        "aten::empty",     "aten::empty_strided",     "aten::empty_like",    "aten::resize_",
        "aten::new_empty", "aten::new_empty_strided", "aten::empty_permuted"};
    return std::find(kNames.begin(), kNames.end(), op) != kNames.end();
}

/// Removes a line of integers separated by tabs. False if it is something else.
template <std::size_t kCount>
bool takeLine(std::string_view& text, std::array<std::int64_t, kCount>& numbers)
{
    const std::size_t length = std::min(text.find('\n'), text.size());
    const char* at = text.data();
    const char* const end = at + length;
    bool isValid = true;
    for (std::size_t i = 0; i < kCount && isValid; ++i) {
        const auto read = std::from_chars(at, end, numbers[i]);
        isValid = read.ec == std::errc{} && (i + 1 < kCount ? read.ptr != end && *read.ptr == '\t' : read.ptr == end);
        at = read.ptr + (i + 1 < kCount && isValid ? 1 : 0);
    }
    text.remove_prefix(std::min(length + 1, text.size()));
    return isValid;
}

/// Finds what ran on a thread when its blocks were allocated.
/// @param blocks  sorted by time
void attribute(const Trace& trace, TrackId track, const Phases& phases, std::vector<Block>& blocks,
               const std::stop_token& stop)
{
    const auto blocksIn = [&](TimeRange range) {
        const auto first = std::lower_bound(blocks.begin(), blocks.end(), range.begin,
                                            [](const Block& block, TraceTime time) { return block.time < time; });
        auto last = first;
        while (last != blocks.end() && last->time < range.end)
            ++last;
        return std::pair(first, last);
    };
    const auto wanted = [&](const SliceView& slice) {
        const auto block = std::lower_bound(blocks.begin(), blocks.end(), slice.begin(),
                                            [](const Block& one, TraceTime time) { return one.time < time; });
        return block != blocks.end() && block->time < slice.end();
    };
    // Outer slices come before inner ones, so that the innermost decides.
    for (const SliceBrief& slice : briefsWhere(trace, track, wanted, stop)) {
        const std::string_view name = trace.string(slice.name);
        const std::string_view phase = phases.of(slice.kind, slice.name);
        const auto frame = slice.kind == ActivityKind::Other ? pythonFrame(name) : std::nullopt;
        const auto [first, last] = blocksIn(slice.range());
        for (auto block = first; block != last; ++block) {
            if (slice.kind == ActivityKind::Step)
                block->step = trace.slice(slice.id).args.value;
            if (!phase.empty())
                block->phase = phase;
            if (slice.kind == ActivityKind::CpuOp &&
                (block->op.empty() || block->opAllocates || !onlyAllocates(name))) {
                block->op = name;
                block->opAllocates = onlyAllocates(name);
                block->slice = slice.id;
            }
            if (!frame)
                continue;
            const bool ofLibrary = isOfPytorch(frame->file);
            if (block->place.empty() || !ofLibrary || block->placeIsOfLibrary) {
                block->place = name;
                block->placeIsOfLibrary = ofLibrary;
            }
            if (block->op.empty())
                block->slice = slice.id;
        }
    }
}

std::vector<LiveBlocks> grouped(const std::map<Thread, std::vector<Block>>& threads)
{
    struct Group {
        LiveBlocks blocks;
        std::int64_t largest = -1;
    };
    using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::optional<std::int64_t>>;
    std::map<Key, Group> groups;
    for (const auto& [thread, blocks] : threads)
        for (const Block& block : blocks) {
            Group& group = groups[{block.place, block.op, block.phase, block.step}];
            group.blocks.bytes += block.bytes;
            ++group.blocks.blocks;
            if (block.bytes > group.largest) {
                group.largest = block.bytes;
                group.blocks.allocation = block.slice;
            }
        }
    std::vector<LiveBlocks> holders;
    for (auto& [key, group] : groups) {
        const auto& [place, op, phase, step] = key;
        if (const auto frame = pythonFrame(place))
            group.blocks.place = {std::string(frame->file), frame->line, std::string(frame->function)};
        group.blocks.op = op;
        group.blocks.phase = phase;
        group.blocks.step = step;
        holders.push_back(std::move(group.blocks));
    }
    return holders;
}

} // namespace

std::vector<LiveBlocks> blocksAtPeak(const Trace& trace, std::string_view text, TrackId counter, std::int64_t peak,
                                     const std::stop_token& stop)
{
    const std::vector<CounterSample> total = trace.counter(counter);
    std::array<std::int64_t, 1> recorded{};
    if (total.empty() || !takeLine(text, recorded) || recorded[0] != peak)
        return {};
    std::map<Thread, std::vector<Block>> threads;
    std::int64_t listed = 0;
    const std::int64_t latest = (total.back().time - total.front().time).count();
    while (!text.empty()) {
        std::array<std::int64_t, 4> fields{};
        // The text comes from a file: blocks were allocated while the counter was recorded, and fit into the peak.
        if (!takeLine(text, fields) || fields[0] < 0 || fields[0] > latest || fields[3] <= 0 ||
            fields[3] > peak - listed)
            continue;
        Block block;
        block.time = total.front().time + Nanoseconds{fields[0]};
        block.bytes = fields[3];
        listed += block.bytes;
        threads[{fields[1], fields[2]}].push_back(block);
    }
    if (listed == 0)
        return {};
    const Phases phases(trace);
    for (auto& [thread, blocks] : threads) {
        std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.time < b.time; });
        for (const Track& track : trace.tracks())
            if ((track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread) &&
                Thread(track.pid, track.tid) == thread)
                attribute(trace, track.id, phases, blocks, stop);
    }
    std::vector<LiveBlocks> holders = grouped(threads);
    if (peak > listed) {
        LiveBlocks earlier;
        earlier.bytes = peak - listed;
        earlier.unrecorded = true;
        holders.push_back(earlier);
    }
    return holders;
}

} // namespace profiler::analysis
