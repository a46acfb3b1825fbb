#include "profiler/analysis/memory/memory_over_time.h"

#include "profiler/analysis/memory/allocator_history.h"
#include "profiler/analysis/memory/memory_events.h"
#include "profiler/model/activity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace profiler::analysis {

namespace {

using Category = MemoryCategory;

constexpr std::size_t kMostHolders = 200;
constexpr std::size_t kAllocatedCategories = static_cast<std::size_t>(Category::Fragmented);
constexpr std::size_t kCheckStop = 4096; ///< events between two looks at the stop token
constexpr std::string_view kAllocated = " memory allocated", kReserved = " memory reserved", kDriver = " memory taken";

std::int64_t& of(MemorySample& sample, Category category)
{
    return sample.bytes[static_cast<std::size_t>(category)];
}

/// Sets the free memory of a sample, so that its total is `reserved` unless more is allocated.
void setReserved(MemorySample& sample, std::int64_t reserved, std::int64_t fragmented)
{
    const std::int64_t free = std::max<std::int64_t>(reserved - sample.allocated(), 0);
    of(sample, Category::Fragmented) = std::min(fragmented, free);
    of(sample, Category::Cached) = free - of(sample, Category::Fragmented);
}

/// Thins out samples: of each interval, keeps those with the least and the most memory, allocated or in total, and the
/// last one. Samples arrive in order of time.
class Thinner {
public:
    /// @param expected  number of samples; all are kept if there are at most `most`
    Thinner(TimeRange range, std::size_t expected, std::size_t most)
        : m_begin(range.begin), m_length(std::max<std::int64_t>(range.duration().count(), 1)),
          m_parts(expected <= most ? 0 : std::max<std::size_t>(most / kKept, 1))
    {
    }

    void add(const MemorySample& sample)
    {
        if (m_parts == 0) {
            m_samples.push_back(sample);
            return;
        }
        const auto part = static_cast<std::size_t>(static_cast<double>((sample.time - m_begin).count()) /
                                                   static_cast<double>(m_length) * static_cast<double>(m_parts));
        if (part != m_part)
            flush();
        m_part = part;
        const auto keep = [&](Kept& kept, bool better) {
            if (m_count == 0 || better)
                kept = {m_count, sample};
        };
        keep(m_extremes[0], sample.allocated() < m_extremes[0].sample.allocated());
        keep(m_extremes[1], sample.allocated() > m_extremes[1].sample.allocated());
        keep(m_extremes[2], sample.total() < m_extremes[2].sample.total());
        keep(m_extremes[3], sample.total() > m_extremes[3].sample.total());
        m_extremes[4] = {m_count++, sample};
    }
    std::vector<MemorySample> take()
    {
        flush();
        return std::move(m_samples);
    }

private:
    static constexpr std::size_t kKept = 5;
    struct Kept {
        std::size_t number = 0; ///< within its interval
        MemorySample sample;
    };

    void flush()
    {
        if (m_count == 0)
            return;
        std::array<Kept, kKept> kept = m_extremes;
        std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.number < b.number; });
        for (std::size_t i = 0; i < kKept; ++i)
            if (i == 0 || kept[i].number != kept[i - 1].number)
                m_samples.push_back(kept[i].sample);
        m_count = 0;
    }

    TraceTime m_begin;
    std::int64_t m_length;
    std::size_t m_parts, m_part = 0, m_count = 0;
    std::array<Kept, kKept> m_extremes;
    std::vector<MemorySample> m_samples;
};

/// The largest first, the others summed up.
std::vector<LiveBlocks> sorted(std::vector<LiveBlocks> holders)
{
    std::stable_sort(holders.begin(), holders.end(), [](const LiveBlocks& a, const LiveBlocks& b) {
        return a.rest != b.rest ? b.rest : a.bytes > b.bytes;
    });
    if (holders.size() <= kMostHolders)
        return holders;
    LiveBlocks rest;
    rest.rest = true;
    for (std::size_t i = kMostHolders; i < holders.size(); ++i) {
        rest.bytes += holders[i].bytes;
        rest.blocks += holders[i].blocks;
    }
    holders.resize(kMostHolders);
    holders.push_back(rest);
    return holders;
}

std::string_view metadataOf(const Trace& trace, const std::string& key)
{
    const auto entry = trace.metadata().find(key);
    return entry == trace.metadata().end() ? std::string_view{} : std::string_view(entry->second);
}

std::optional<std::uint32_t> deviceNumber(std::string_view place)
{
    if (!place.starts_with("GPU "))
        return std::nullopt;
    std::uint32_t number = 0;
    const char* const end = place.data() + place.size();
    const auto read = std::from_chars(place.data() + 4, end, number);
    return read.ec == std::errc{} && read.ptr == end ? std::optional(number) : std::nullopt;
}

// Memory snapshots

/// The live blocks after an event, by line, operator and category.
/// @param event  AllocatedBlock::kBefore: before the first one
std::vector<LiveBlocks> holdersAfter(const AllocatorHistory& history, std::size_t event)
{
    struct Group {
        LiveBlocks blocks;
        std::int64_t largest = -1;
    };
    std::map<std::tuple<std::string_view, std::int64_t, std::string_view, Category, bool>, Group> groups;
    for (const AllocatedBlock& block : history.blocks) {
        const bool alive =
            event == AllocatedBlock::kBefore ? block.from == AllocatedBlock::kBefore : block.isAliveAfter(event);
        if (!alive)
            continue;
        const AllocationStack& stack = history.stacks[block.stack];
        const bool unrecorded = block.from == AllocatedBlock::kBefore && !stack.hasFrames;
        Group& group = groups[{stack.place.file, stack.place.line, stack.op, block.category, unrecorded}];
        group.blocks.bytes += block.bytes;
        ++group.blocks.blocks;
        group.blocks.category = block.category;
        group.blocks.place = stack.place;
        group.blocks.op = stack.op;
        group.blocks.unrecorded = unrecorded;
        if (block.from != AllocatedBlock::kBefore && block.bytes > group.largest) {
            group.largest = block.bytes;
            group.blocks.allocation = history.events[block.from].slice;
        }
    }
    std::vector<LiveBlocks> holders;
    for (auto& [key, group] : groups)
        holders.push_back(std::move(group.blocks));
    return sorted(std::move(holders));
}

/// The first value of a counter that the importer created for the device; empty if there is none.
std::optional<std::int64_t> firstValue(const Trace& trace, const std::string& name)
{
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Counter && track.name == name)
            if (const auto samples = trace.counter(track.id); !samples.empty())
                return static_cast<std::int64_t>(samples.front().value);
    return std::nullopt;
}

DeviceMemory fromHistory(const Trace& trace, std::uint32_t device, const Track* track, const std::stop_token& stop,
                         std::size_t most)
{
    DeviceMemory memory;
    memory.place = "GPU " + std::to_string(device);
    memory.source = MemorySource::AllocatorHistory;
    AllocatorHistory history =
        readAllocatorHistory(trace, track, metadataOf(trace, "memory.segments.gpu" + std::to_string(device)), stop);
    if (stop.stop_requested())
        return memory;
    memory.hasStacks = std::any_of(history.stacks.begin(), history.stacks.end(),
                                   [](const AllocationStack& stack) { return stack.hasFrames; });
    if (history.events.empty()) {
        memory.segments = std::move(history.segments);
        return memory;
    }
    AllocatorReplay replay(history);
    // Memory that the allocator counts, but for which the history has no block.
    const std::int64_t unlisted = std::max<std::int64_t>(
        firstValue(trace, memory.place + std::string(kAllocated)).value_or(0) - replay.sample().allocated(), 0);
    std::int64_t reserved = firstValue(trace, memory.place + std::string(kReserved)).value_or(0);
    memory.hasReserved = true;
    const auto now = [&] {
        MemorySample sample = replay.sample();
        of(sample, Category::Uncategorised) += unlisted;
        setReserved(sample, reserved, sample.of(Category::Fragmented));
        return sample;
    };
    Thinner thinner({history.events.front().time, history.events.back().time}, history.events.size() + 1, most);
    MemorySample peak = now();
    std::size_t peakAt = AllocatedBlock::kBefore;
    std::optional<std::size_t> failedAt;
    MemorySample failed;
    thinner.add(peak);
    for (std::size_t i = 0; i < history.events.size(); ++i) {
        if (i % kCheckStop == 0 && stop.stop_requested())
            return memory;
        const AllocatorEvent& event = history.events[i];
        replay.apply(i);
        if (event.kind == AllocatorEvent::Kind::Reserve)
            reserved += event.bytes;
        else if (event.kind == AllocatorEvent::Kind::Release)
            reserved = std::max<std::int64_t>(reserved - event.bytes, 0);
        const MemorySample sample = now();
        thinner.add(sample);
        if (sample.allocated() > peak.allocated()) {
            peak = sample;
            peakAt = i;
        }
        if (event.kind == AllocatorEvent::Kind::OutOfMemory) {
            failedAt = i;
            failed = sample;
        }
    }
    memory.samples = thinner.take();
    const auto holdersAt = [&](std::size_t event) {
        std::vector<LiveBlocks> holders = holdersAfter(history, event);
        if (unlisted > 0) {
            LiveBlocks other;
            other.bytes = unlisted;
            holders.push_back(other);
            holders = sorted(std::move(holders));
        }
        return holders;
    };
    if (failedAt)
        memory.moments.push_back({.ranOut = true,
                                  .time = failed.time,
                                  .bytes = failed.allocated(),
                                  .asked = history.events[*failedAt].bytes,
                                  .sample = failed,
                                  .holders = holdersAt(*failedAt)});
    memory.moments.push_back(
        {.time = peak.time, .bytes = peak.allocated(), .asked = {}, .sample = peak, .holders = holdersAt(peakAt)});
    memory.segments = std::move(history.segments);
    return memory;
}

// Totals

/// What the phase and the step of an allocation say about its use at the moment at which it is alive.
Category categoryOf(const MemoryHolder& holder, const std::vector<MemoryHolder>& alive)
{
    if (!holder.step || holder.rest)
        return Category::Uncategorised;
    std::int64_t step = *holder.step; // of the moment: the latest with live blocks
    for (const MemoryHolder& other : alive)
        step = std::max(step, other.step.value_or(step));
    const bool isOfEarlierStep = *holder.step < step;
    const auto reached = [&](std::string_view phase) {
        return std::any_of(alive.begin(), alive.end(),
                           [&](const MemoryHolder& other) { return other.step == step && other.phase == phase; });
    };
    if (holder.phase == phase::kOptimizer)
        return isOfEarlierStep ? Category::OptimizerState : Category::Uncategorised;
    if (holder.phase == phase::kBackward)
        return isOfEarlierStep || reached(phase::kOptimizer) ? Category::Gradients : Category::Uncategorised;
    if (holder.phase == phase::kForward)
        return !isOfEarlierStep && (reached(phase::kBackward) || reached(phase::kOptimizer)) ? Category::Activations
                                                                                             : Category::Uncategorised;
    return Category::Uncategorised;
}

/// Sets the holders of a peak whose blocks an importer found, and the categories that follow.
void setHolders(MemoryState& state, std::vector<LiveBlocks> groups)
{
    groups = sorted(std::move(groups));
    std::vector<MemoryHolder> alive;
    for (const LiveBlocks& group : groups)
        alive.push_back({group.bytes, group.blocks, group.step, group.phase, group.op, group.rest || group.unrecorded});
    std::int64_t listed = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        groups[i].category = categoryOf(alive[i], alive);
        if (groups[i].category == Category::Uncategorised)
            continue;
        const std::int64_t counted = std::clamp<std::int64_t>(groups[i].bytes, 0, state.bytes - listed);
        of(state.sample, groups[i].category) += counted;
        listed += counted;
    }
    of(state.sample, Category::Uncategorised) = state.bytes - listed;
    state.holders = std::move(groups);
}

MemoryState stateOf(const MemoryMoment& moment)
{
    MemoryState state;
    state.ranOut = moment.ranOut;
    state.bytes = moment.bytes;
    state.asked = moment.asked;
    std::int64_t listed = 0;
    for (const MemoryHolder& holder : moment.alive) {
        LiveBlocks blocks;
        blocks.bytes = holder.bytes;
        blocks.blocks = holder.blocks;
        blocks.category = categoryOf(holder, moment.alive);
        blocks.op = holder.op;
        blocks.phase = holder.phase;
        blocks.step = holder.step;
        blocks.rest = holder.rest;
        // The live blocks are stored a little before the peak; see AllocationLedger.
        const std::int64_t counted = std::clamp<std::int64_t>(holder.bytes, 0, moment.bytes - listed);
        of(state.sample, blocks.category) += counted;
        listed += counted;
        state.holders.push_back(std::move(blocks));
    }
    of(state.sample, Category::Uncategorised) += moment.bytes - listed;
    return state;
}

struct Counters {
    std::optional<TrackId> allocated, reserved;
    bool sinceBegin = false, ofDriver = false;
};

std::vector<MemorySample> samplesOf(const Trace& trace, const Counters& counters, const std::stop_token& stop,
                                    std::size_t most, MemorySample& peak)
{
    const std::vector<CounterSample> allocated = trace.counter(*counters.allocated);
    const std::vector<CounterSample> reserved =
        counters.reserved ? trace.counter(*counters.reserved) : std::vector<CounterSample>{};
    if (allocated.empty() || stop.stop_requested())
        return {};
    TimeRange range{allocated.front().time, allocated.back().time};
    if (!reserved.empty())
        range = {std::min(range.begin, reserved.front().time), std::max(range.end, reserved.back().time)};
    Thinner thinner(range, allocated.size() + reserved.size(), most);
    const auto bytesOf = [](const CounterSample& sample) {
        return static_cast<std::int64_t>(std::clamp(sample.value, 0.0, 1e15));
    };
    std::size_t a = 0, r = 0;
    std::int64_t inUse = 0, held = 0;
    bool first = true;
    while (a < allocated.size() || r < reserved.size()) {
        const TraceTime time = a == allocated.size()  ? reserved[r].time
                               : r == reserved.size() ? allocated[a].time
                                                      : std::min(allocated[a].time, reserved[r].time);
        const std::size_t before = a;
        // Of several values at one time, each may be the peak; only the last one of the other counter counts.
        if (a < allocated.size() && allocated[a].time == time)
            inUse = bytesOf(allocated[a++]);
        const bool moreToCome = a > before && a < allocated.size() && allocated[a].time == time;
        while (!moreToCome && r < reserved.size() && reserved[r].time == time)
            held = bytesOf(reserved[r++]);
        MemorySample sample;
        sample.time = time;
        of(sample, Category::Uncategorised) = inUse;
        setReserved(sample, held, 0);
        thinner.add(sample);
        if (first || sample.allocated() > peak.allocated())
            peak = sample;
        first = false;
    }
    return thinner.take();
}

/// The counters of each place, by process.
std::map<std::pair<std::string, std::int64_t>, Counters> countersOf(const Trace& trace)
{
    std::map<std::pair<std::string, std::int64_t>, Counters> places;
    for (const bool driver : {false, true}) // the allocator's totals come first: they say more
        for (const Track& track : trace.tracks()) {
            if (track.kind != TrackKind::Counter)
                continue;
            std::string_view name = track.name;
            const bool sinceBegin = name.ends_with(counter::kSinceBegin);
            if (sinceBegin)
                name.remove_suffix(counter::kSinceBegin.size());
            const std::string_view suffix = driver ? kDriver : name.ends_with(kReserved) ? kReserved : kAllocated;
            if (!name.ends_with(suffix))
                continue;
            name.remove_suffix(suffix.size());
            if (name != "CPU" && !deviceNumber(name))
                continue;
            if (driver && std::any_of(places.begin(), places.end(), [&](const auto& place) {
                    return place.first.first == name && !place.second.ofDriver;
                }))
                continue;
            Counters& counters = places[{std::string(name), track.pid}];
            if (suffix == kReserved) {
                counters.reserved = track.id;
            } else {
                counters.allocated = track.id;
                counters.sinceBegin = sinceBegin || driver;
                counters.ofDriver = driver;
            }
        }
    std::erase_if(places, [](const auto& place) { return !place.second.allocated; });
    return places;
}

/// The host first, then GPUs by number.
std::int64_t orderOf(const DeviceMemory& memory)
{
    const std::string place = memory.place.substr(0, memory.place.find(" ·"));
    const auto number = deviceNumber(place);
    return number ? static_cast<std::int64_t>(*number) : -1;
}

/// "cpu", "gpu3": as keys of metadata name a place
std::string placeKey(std::string_view place)
{
    return place == "CPU" ? "cpu" : "gpu" + std::string(place.substr(4));
}

std::vector<DeviceMemory> fromTotals(const Trace& trace, const std::set<std::string>& known,
                                     const std::stop_token& stop, std::size_t most)
{
    std::vector<DeviceMemory> devices;
    const auto places = countersOf(trace);
    std::vector<MemoryMoment> moments = memoryMoments(trace);
    std::erase_if(moments, [&](const MemoryMoment& moment) { return known.contains(moment.place); });
    for (const auto& [key, counters] : places) {
        const auto& [place, pid] = key;
        if (known.contains(place))
            continue;
        DeviceMemory memory;
        const bool isOnlyOne = std::count_if(places.begin(), places.end(),
                                             [&](const auto& other) { return other.first.first == place; }) == 1;
        const Track& track = trace.track(*counters.allocated);
        memory.place = isOnlyOne                   ? place
                       : track.processName.empty() ? place + " · process " + std::to_string(pid)
                                                   : place + " · " + track.processName;
        memory.source = counters.ofDriver ? MemorySource::DriverTotals : MemorySource::AllocatorTotals;
        memory.sinceBegin = counters.sinceBegin;
        memory.hasReserved = counters.reserved.has_value();
        MemorySample peak;
        memory.samples = samplesOf(trace, counters, stop, most, peak);
        if (stop.stop_requested())
            return devices;
        std::optional<MemoryState> stored;
        for (const MemoryMoment& moment : moments)
            if (isOnlyOne && moment.place == place && !moment.ranOut)
                stored = stateOf(moment);
            else if (isOnlyOne && moment.place == place)
                memory.moments.push_back(stateOf(moment));
        if (!stored && !memory.samples.empty()) {
            stored = MemoryState{.time = {}, .bytes = peak.allocated(), .asked = {}, .sample = peak, .holders = {}};
            std::vector<LiveBlocks> blocks;
            if (isOnlyOne)
                blocks = blocksAtPeak(trace, metadataOf(trace, std::string(counter::kLiveBlocks) + placeKey(place)),
                                      *counters.allocated, peak.allocated(), stop);
            memory.hasEvents = !blocks.empty();
            memory.hasStacks =
                std::any_of(blocks.begin(), blocks.end(), [](const LiveBlocks& group) { return !group.place.empty(); });
            if (memory.hasEvents)
                setHolders(*stored, std::move(blocks));
        }
        // The counter has the time of the peak if it reaches the recorded one; a trace may contain only some samples.
        if (stored && !memory.samples.empty() && peak.allocated() >= stored->bytes) {
            stored->time = stored->sample.time = peak.time;
            for (const Category free : {Category::Fragmented, Category::Cached})
                of(stored->sample, free) = peak.of(free);
        }
        if (stored)
            memory.moments.push_back(std::move(*stored));
        if (isOnlyOne)
            std::erase_if(moments, [&](const MemoryMoment& moment) { return moment.place == place; });
        devices.push_back(std::move(memory));
    }
    // Moments of places without a counter.
    for (const MemoryMoment& moment : moments) {
        auto device = std::find_if(devices.begin(), devices.end(),
                                   [&](const DeviceMemory& one) { return one.place == moment.place; });
        if (device == devices.end()) {
            devices.emplace_back().place = moment.place;
            device = std::prev(devices.end());
        }
        device->moments.push_back(stateOf(moment));
    }
    return devices;
}

constexpr std::string_view kNone = "-", kRest = "rest";

std::optional<std::int64_t> number(std::string_view text)
{
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc{} && read.ptr == end && !text.empty() ? std::optional(value) : std::nullopt;
}

/// A nonnegative number of bytes or blocks.
std::optional<std::int64_t> amount(std::string_view text)
{
    const auto value = number(text);
    return value && *value >= 0 ? value : std::nullopt;
}

/// Removes and returns the text up to `end`; `end` itself is also removed.
std::string_view takeUntil(std::string_view& text, char end)
{
    const std::size_t at = std::min(text.find(end), text.size());
    const std::string_view taken = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return taken;
}

/// "bytes TAB blocks TAB step TAB phase TAB operator", with "-" for none.
std::optional<MemoryHolder> holderOf(std::string_view line)
{
    std::array<std::string_view, 5> fields;
    for (std::string_view& field : fields)
        field = takeUntil(line, '\t');
    const auto bytes = amount(fields[0]), blocks = amount(fields[1]);
    if (!bytes || !blocks)
        return std::nullopt;
    const auto name = [](std::string_view text) { return text == kNone ? std::string() : std::string(text); };
    MemoryHolder holder{*bytes, *blocks, {}, {}, {}, fields[2] == kRest};
    if (!holder.rest) {
        holder.step = number(fields[2]);
        holder.phase = name(fields[3]);
        holder.op = name(fields[4]);
    }
    return holder;
}

std::vector<MemoryHolder> holdersOf(std::string_view text)
{
    std::vector<MemoryHolder> holders;
    while (!text.empty())
        if (auto holder = holderOf(takeUntil(text, '\n')))
            holders.push_back(std::move(*holder));
    std::stable_sort(holders.begin(), holders.end(), [](const MemoryHolder& a, const MemoryHolder& b) {
        return a.rest != b.rest ? b.rest : a.bytes > b.bytes;
    });
    return holders;
}

/// "cpu", "gpu3"
std::optional<std::string> placeOf(std::string_view key)
{
    if (key == "cpu")
        return "CPU";
    if (!key.starts_with("gpu") || !number(key.substr(3)))
        return std::nullopt;
    return "GPU " + std::string(key.substr(3));
}

std::string_view textOf(const Trace& trace, const std::string& key)
{
    const auto entry = trace.metadata().find(key);
    return entry == trace.metadata().end() ? std::string_view{} : std::string_view(entry->second);
}

void append(std::vector<MemoryMoment>& moments, const Trace& trace, std::string_view prefix, bool ranOut)
{
    for (auto entry = trace.metadata().lower_bound(prefix);
         entry != trace.metadata().end() && entry->first.starts_with(prefix); ++entry) {
        const auto place = placeOf(std::string_view(entry->first).substr(prefix.size()));
        const auto bytes = amount(entry->second);
        if (place && bytes)
            moments.push_back({*place, ranOut, *bytes, amount(textOf(trace, entry->first + ".asked")),
                               holdersOf(textOf(trace, entry->first + ".alive"))});
    }
}

} // namespace

std::string_view memoryCategoryKey(MemoryCategory category)
{
    constexpr std::string_view kKeys[kMemoryCategories] = {"parameters",  "optimizer_state", "gradients",
                                                           "activations", "temporaries",     "uncategorised",
                                                           "fragmented",  "cached"};
    return kKeys[static_cast<std::size_t>(category)];
}

std::string_view memoryCategoryName(MemoryCategory category)
{
    return category == MemoryCategory::OptimizerState ? "optimizer state" : memoryCategoryKey(category);
}

std::int64_t MemorySample::allocated() const
{
    return std::accumulate(bytes.begin(), bytes.begin() + kAllocatedCategories, std::int64_t{0});
}

std::int64_t MemorySample::total() const
{
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

std::vector<DeviceMemory> memoryOverTime(const Trace& trace, const std::stop_token& stop, std::size_t most)
{
    constexpr std::string_view kSegments = "memory.segments.gpu";
    std::map<std::uint32_t, const Track*> snapshots; // null: without a history
    for (auto entry = trace.metadata().lower_bound(kSegments);
         entry != trace.metadata().end() && entry->first.starts_with(kSegments); ++entry)
        if (const auto device = deviceNumber("GPU " + entry->first.substr(kSegments.size())))
            snapshots.try_emplace(*device, nullptr);
    for (const Track& track : trace.tracks())
        if (const auto device = snapshots.find(track.device.value);
            device != snapshots.end() && track.kind == TrackKind::Stream && track.name == "allocator")
            device->second = &track;
    std::vector<DeviceMemory> devices;
    std::set<std::string> known;
    for (const auto& [device, track] : snapshots) {
        devices.push_back(fromHistory(trace, device, track, stop, most));
        known.insert(devices.back().place);
        if (stop.stop_requested())
            return devices;
    }
    for (DeviceMemory& memory : fromTotals(trace, known, stop, most))
        devices.push_back(std::move(memory));
    std::stable_sort(devices.begin(), devices.end(),
                     [](const DeviceMemory& a, const DeviceMemory& b) { return orderOf(a) < orderOf(b); });
    return devices;
}

std::vector<MemoryMoment> memoryMoments(const Trace& trace)
{
    std::vector<MemoryMoment> moments;
    append(moments, trace, "memory.out.", true);
    append(moments, trace, "memory.peak.", false);
    return moments;
}

} // namespace profiler::analysis
