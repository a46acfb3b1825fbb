#include "profiler/query/slice_scan.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace profiler::query {

namespace {

// Blocks that are not in memory are read and kept until the query ends: at most half a gigabyte.
constexpr std::size_t kMostSlicesRead = std::size_t{12} << 20;

} // namespace

bool Bounds::isAll() const
{
    return first == std::numeric_limits<std::int64_t>::min() && last == std::numeric_limits<std::int64_t>::max();
}

void Bounds::clip(Bounds other)
{
    first = std::max(first, other.first);
    last = std::min(last, other.last);
}

void NameConditions::restrictTo(StringId name)
{
    if (!m_only && m_known.empty())
        m_only = name.value;
    else if (m_only && *m_only != name.value)
        m_only = std::numeric_limits<std::uint32_t>::max(); // two different names
}

void NameConditions::restrictTo(const Trace& trace, const std::vector<StringId>& names)
{
    std::vector<Answer> known(trace.stringCount(), Answer::No);
    for (const StringId name : names)
        if (m_known.empty() || m_known[name.value] != Answer::No)
            known[name.value] = m_patterns.empty() ? Answer::Yes : Answer::Unknown;
    m_known = std::move(known);
}

void NameConditions::addPattern(const Trace& trace, Pattern kind, std::string pattern)
{
    if (m_known.empty())
        m_known.assign(trace.stringCount(), Answer::Unknown);
    else
        std::replace(m_known.begin(), m_known.end(), Answer::Yes, Answer::Unknown);
    m_patterns.push_back({kind, std::move(pattern)});
}

bool NameConditions::accepts(const Trace& trace, std::uint32_t name)
{
    if (m_only && *m_only != name)
        return false;
    if (m_known.empty())
        return true;
    Answer& answer = m_known[name];
    if (answer == Answer::Unknown) {
        const std::string text(trace.string(StringId{name}));
        const bool all = std::ranges::all_of(m_patterns, [&](const Condition& condition) {
            return (condition.kind == Pattern::Like ? sqlite3_strlike(condition.text.c_str(), text.c_str(), 0)
                                                    : sqlite3_strglob(condition.text.c_str(), text.c_str())) == 0;
        });
        answer = all ? Answer::Yes : Answer::No;
    }
    return answer == Answer::Yes;
}

SliceScan::SliceScan(const Session& session, SliceFilter filter) : m_session(session), m_filter(std::move(filter))
{
    if (m_filter.tracks)
        m_tracks = std::move(*m_filter.tracks);
    else
        for (const Track& track : session.trace().tracks())
            m_tracks.push_back(track.id);
    m_windows = m_filter.windows ? std::move(*m_filter.windows) : std::vector<Bounds>(1);
    for (Bounds& window : m_windows)
        window.clip(m_filter.start);
    std::erase_if(m_windows, [](const Bounds& window) { return window.isEmpty(); });
    m_checksRows = m_filter.kinds != ~0U || !m_filter.names.isAll() || !m_filter.end.isAll() ||
                   !m_filter.duration.isAll() || !m_filter.depth.isAll();
    m_nextWindow = m_windows.size(); // the first call of nextBlock() enters the first track
    if (m_filter.isEmpty || m_windows.empty()) {
        m_tracks.clear();
        m_filter.ids.reset();
    }
}

bool SliceScan::accepts(std::uint32_t position)
{
    const SliceColumns& columns = m_block->columns;
    return (m_filter.kinds >> static_cast<int>(columns.kind(position)) & 1) != 0 &&
           (m_filter.names.isAll() || m_filter.names.accepts(m_session.trace(), columns.name(position))) &&
           m_filter.duration.contains(columns.duration(position)) && m_filter.end.contains(columns.end(position)) &&
           m_filter.depth.contains(columns.depth(position));
}

bool SliceScan::advance()
{
    if (m_filter.ids)
        return advanceIds();
    for (;;) {
        while (m_next < m_end) {
            m_current = m_next++;
            if (!m_checksRows || accepts(m_current))
                return true;
        }
        if (!nextBlock())
            return false;
    }
}

bool SliceScan::advanceIds()
{
    while (m_nextId < m_filter.ids->size()) {
        const SliceId id = (*m_filter.ids)[m_nextId++];
        auto place = m_session.trace().slicesOf(id.track).find(id.ordinal);
        if (!place)
            continue;
        m_track = id.track;
        m_block = std::move(place->block);
        m_current = place->position;
        if (accepts(m_current))
            return true;
    }
    return false;
}

bool SliceScan::nextBlock()
{
    for (;;) {
        while (!m_blocks.empty()) {
            const BlockRef& ref = m_blocks.front();
            m_blocks = m_blocks.subspan(1);
            if (m_session.mustStop()) {
                m_stopped = true;
                return false;
            }
            if (enter(ref))
                return true;
        }
        if (m_nextWindow == m_windows.size()) {
            if (m_nextTrack == m_tracks.size())
                return false;
            m_track = m_tracks[m_nextTrack++];
            m_nextWindow = 0;
        }
        m_window = m_windows[m_nextWindow++];
        m_blocks = m_session.trace().slicesOf(m_track).blocks;
    }
}

/// Starts with the slices of a block. False if it cannot contain one of the wanted ones.
bool SliceScan::enter(const BlockRef& ref)
{
    const BlockSummary& summary = ref.summary();
    if ((summary.kinds & m_filter.kinds) == 0 || summary.firstBegin > m_window.last ||
        summary.lastEnd < std::max(m_window.first, m_filter.end.first))
        return false;
    m_block = ref.pin();
    if (!m_block)
        return false;
    m_next = m_window.first > summary.firstBegin ? m_block->columns.firstFrom(m_window.first) : 0;
    m_end = m_window.last < summary.lastEnd ? m_block->columns.firstFrom(m_window.last + 1) : m_block->size();
    return m_next < m_end;
}

bool SortedSlices::canSort(const Trace& trace)
{
    std::size_t blocks = 0, slicesRead = 0;
    for (const Track& track : trace.tracks())
        for (const BlockRef& block : trace.slicesOf(track.id).blocks) {
            ++blocks;
            slicesRead += block.resident() ? 0 : block.summary().count;
        }
    return blocks < (std::size_t{1} << (32 - kPositionBits)) && slicesRead <= kMostSlicesRead;
}

std::optional<SortedSlices> SortedSlices::make(const Session& session, SliceScan& scan,
                                               const std::vector<SortKey>& keys, bool grouped)
{
    SortedSlices sorted;
    const TrackBlock* last = nullptr;
    std::uint32_t number = 0;
    std::unordered_map<const TrackBlock*, std::uint32_t> numbers; // a scan with several windows returns to a block
    while (scan.advance()) {
        if (const TrackBlock* block = &*scan.block(); block != last) {
            last = block;
            const auto [known, isNew] = numbers.try_emplace(block, static_cast<std::uint32_t>(sorted.m_blocks.size()));
            number = known->second;
            if (isNew)
                sorted.m_blocks.push_back({scan.track(), scan.block()});
        }
        const SliceColumns& columns = last->columns;
        const std::int64_t duration = columns.duration(scan.position());
        sorted.m_entries.push_back({number << kPositionBits | scan.position(), columns.name(scan.position()),
                                    duration < kLong ? static_cast<std::uint32_t>(duration) : kLong});
    }
    if (scan.wasStopped())
        return std::nullopt;
    // Stable sorts from the last to the first key order by all of them.
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
        if (session.mustStop())
            return std::nullopt;
        sorted.sortBy(session, *key, grouped);
    }
    return sorted;
}

bool SortedSlices::advance()
{
    if (m_next == m_entries.size())
        return false;
    const std::uint32_t entry = m_entries[m_next++].place;
    m_block = entry >> kPositionBits;
    m_position = entry & ((1U << kPositionBits) - 1);
    return true;
}

/// A small number for each entry, in the order of the column. Texts are compared as SQLite's collation BINARY does,
/// unless equal values only have to be neighbours.
/// @param count  receives a number above all keys
std::vector<std::uint32_t> SortedSlices::keysOf(const Session& session, SliceColumn column, bool grouped,
                                                std::uint32_t& count) const
{
    std::vector<std::uint32_t> keys(m_entries.size());
    std::uint32_t largest = 0;
    const auto fill = [&](auto&& keyOf) {
        for (std::size_t i = 0; i < m_entries.size(); ++i) {
            const std::uint32_t place = m_entries[i].place;
            keys[i] = keyOf(m_blocks[place >> kPositionBits], place & ((1U << kPositionBits) - 1));
            largest = std::max(largest, keys[i]);
        }
    };
    const auto rank = [&](auto&& textOf) {
        if (grouped || m_entries.empty())
            return;
        std::vector<std::uint32_t> ranks(largest + 1, 0), used;
        for (const std::uint32_t key : keys)
            if (std::exchange(ranks[key], 1) == 0)
                used.push_back(key);
        std::sort(used.begin(), used.end(), [&](std::uint32_t a, std::uint32_t b) { return textOf(a) < textOf(b); });
        for (std::uint32_t i = 0; i < used.size(); ++i)
            ranks[used[i]] = i;
        for (std::uint32_t& key : keys)
            key = ranks[key];
    };
    switch (column) {
    case SliceColumn::Name:
        fill([](const Block& block, std::uint32_t position) { return block.pin->columns.name(position); });
        rank([&](std::uint32_t name) { return session.trace().string(StringId{name}); });
        break;
    case SliceColumn::Kind:
        fill([](const Block& block, std::uint32_t position) {
            return static_cast<std::uint32_t>(block.pin->columns.kind(position));
        });
        rank([](std::uint32_t kind) { return activityName(static_cast<ActivityKind>(kind)); });
        break;
    case SliceColumn::Depth:
        fill([](const Block& block, std::uint32_t position) {
            return std::uint32_t{block.pin->columns.depth(position)};
        });
        break;
    case SliceColumn::Step: {
        // NULL comes first. Steps are in order of time, their indexes need not be.
        std::vector<std::int64_t> indexes;
        for (const analysis::Step& step : session.source.steps)
            indexes.push_back(step.index);
        std::sort(indexes.begin(), indexes.end());
        fill([&](const Block& block, std::uint32_t position) -> std::uint32_t {
            const analysis::Step* step = session.stepAt(traceTime(block.pin->columns.begin(position)));
            if (!step)
                return 0;
            return static_cast<std::uint32_t>(std::lower_bound(indexes.begin(), indexes.end(), step->index) -
                                              indexes.begin() + 1);
        });
        break;
    }
    default:
        fill([](const Block& block, std::uint32_t) { return block.track.value; });
    }
    count = largest + 1;
    return keys;
}

void SortedSlices::sortBy(const Session& session, SortKey key, bool grouped)
{
    std::uint32_t count = 0;
    const std::vector<std::uint32_t> keys = keysOf(session, key.column, grouped, count);
    std::vector<std::uint32_t> places(count + 1, 0);
    const auto bucket = [&](std::uint32_t value) { return key.descending ? count - 1 - value : value; };
    for (const std::uint32_t value : keys)
        ++places[bucket(value) + 1];
    std::partial_sum(places.begin(), places.end(), places.begin());
    std::vector<Entry> sorted(m_entries.size());
    for (std::size_t i = 0; i < m_entries.size(); ++i)
        sorted[places[bucket(keys[i])]++] = m_entries[i];
    m_entries = std::move(sorted);
}

} // namespace profiler::query
