#include "profiler/model/level_of_detail.h"

#include "profiler/model/trace_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace profiler {
namespace {

/// With this many groups in a bucket, the estimate for the two groups at its edges hardly matters.
constexpr std::uint32_t kEnoughGroups = 16;
/// … while the view is moving.
constexpr std::uint32_t kEnoughInMotion = 1;
/// A group this many times as long as a bucket contains a pause, so its entries are not spread evenly.
constexpr double kPause = 2;
/// log2 of the group size from which a group is added as a whole rather than entry by entry.
constexpr std::uint32_t kMinimumForGroups = 4;
/// From this many groups on, they are sure to include a whole group of the next level up.
constexpr std::uint32_t kMinimumForLevelUp = 8;
/// If a bucket has this many slices of a block that is not in memory, the block's summary (groups of 64) is good
/// enough: the first view of a file with a million slices on a track decodes nothing.
constexpr double kSummaryIsEnough = 64;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max(); // no entry starts at this time

/// Average number of slices per bucket, out of `count` slices.
double perBucket(std::uint32_t count, std::int64_t begin, std::int64_t end, std::int64_t width)
{
    const double span = static_cast<double>(end) - static_cast<double>(begin);
    return static_cast<double>(count) * static_cast<double>(width) / std::max(span, 1.0);
}

/// The part of one row that overlaps one bucket.
struct RowPart {
    std::uint32_t count = 0; ///< entries that overlap the bucket
    double covered = 0;      ///< ns
    bool isOne = false;      ///< see ColoredBucket
    Longest longest;
    ColorSum color; ///< weighted by `covered`
};

/// Walks over a row from bucket to bucket. If a bucket has about a hundred entries or more, its edges are looked up
/// among groups of entries, with at least sixteen groups per bucket. The part of a group beyond an edge is estimated by
/// assuming an even spread, so a bucket takes the same time however many slices there are. With fewer entries, and if
/// an edge falls into a group with a pause, the result is exact: entries are visited one by one, and groups that are
/// wholly inside a bucket are added as a whole.
class RowWalk {
public:
    /// @param width    of the buckets to come, in ns
    /// @param pin      of the block; set when a row of the block first needs its contents
    /// @param palette  for the colours of the parts; if null, they are black
    RowWalk(const BlockRef& ref, BlockPin& pin, const Row& row, std::int64_t width, LodEdges edges,
            const SlicePalette* palette = nullptr);

    /// The part of the row in [begin, end); both must increase from call to call.
    [[nodiscard]] RowPart next(std::int64_t begin, std::int64_t end);

private:
    /// An edge of a bucket, located among the groups of a level.
    struct Cut {
        std::uint32_t group = 0;
        double entries = 0; ///< number of entries before the edge
        double covered = 0; ///< ns covered before the edge
        double length = 0;  ///< ns from the group's start to the next group's, if the edge's place within it is
                            ///< estimated
    };
    static constexpr std::int64_t kBeforeAll = -2 * RawSlice::kTimeLimit;
    /// An exact position between two entries.
    struct Place {
        std::int64_t time = kBeforeAll;
        std::uint32_t entry = 0;           ///< the first entry that starts at `time` or later
        std::int64_t nextBegin = 0;        ///< start of that entry; the largest time after the last entry
        std::int64_t lastEnd = kBeforeAll; ///< end of the entry before it
    };
    [[nodiscard]] const RowLevel* level(int number);
    [[nodiscard]] Cut cutAt(const RowLevel& level, std::int64_t time, std::uint32_t guess) const;
    [[nodiscard]] RowPart between(int number, const Cut& from, const Cut& to);
    [[nodiscard]] RowPart exactly(std::int64_t begin, std::int64_t end);
    void moveTo(std::int64_t time);
    [[nodiscard]] MixedColor colorOf(std::uint32_t name) const
    {
        return m_palette ? m_palette->colorOf(m_row->kind, StringId{name}) : MixedColor{};
    }
    [[nodiscard]] const RowColors* colors();
    /// Average colour of the entries between two cuts; the colour of `longest` if their mix is unknown.
    [[nodiscard]] MixedColor colorBetween(double fromEntry, double toEntry, const Longest& longest);
    void passTo(std::int64_t end, RowPart& part);
    [[nodiscard]] std::uint32_t passGroups(std::uint32_t entry, std::int64_t end, RowPart& part);
    bool load();

    const BlockRef* m_ref;
    BlockPin* m_pin;
    const Row* m_row;
    int m_level;               ///< where the search starts; below m_lowest: exactly
    int m_lowest;              ///< the lowest level to use
    std::uint32_t m_enough;    ///< number of groups in a bucket that are enough for an estimate
    bool m_neverExact = false; ///< m_lowest is the most exact level available
    std::array<std::optional<RowLevel>, 8> m_levels;
    std::optional<RowEntries> m_entries; ///< set once the block has been read
    const SlicePalette* m_palette;
    std::optional<RowColors> m_colors; ///< set on first use
    bool m_finestColors = false;       ///< m_colors was built with the block in memory
    double m_sumAt = -1;               ///< number of entries included in m_sum; −1 for none
    RowColors::Sum m_sum;
    bool m_failed = false;
    std::int64_t m_edge = 0; ///< edge that m_cut belongs to: the end of the last bucket
    bool m_haveCut = false;
    Cut m_cut;
    std::uint32_t m_stride = 0; ///< number of groups in the last bucket
    Place m_place;
};

RowWalk::RowWalk(const BlockRef& ref, BlockPin& pin, const Row& row, std::int64_t width, LodEdges edges,
                 const SlicePalette* palette)
    : m_ref(&ref), m_pin(&pin), m_row(&row), m_level(lod::highest(row)), m_lowest(lod::lowestOf16(row)),
      m_enough(edges == LodEdges::Fine ? kEnoughGroups : kEnoughInMotion), m_palette(palette)
{
    const double expected = perBucket(row.count, row.begin, row.end, width);
    while (m_level >= m_lowest && expected < std::ldexp(m_enough, static_cast<int>(lod::shift(row, m_level))))
        --m_level;
    // Do not read a block from the file for details that a pixel cannot show.
    const BlockSummary& block = ref.summary();
    if (!ref.resident() && !pin && perBucket(block.count, block.firstBegin, block.lastEnd, width) >= kSummaryIsEnough) {
        m_lowest = lod::lowestSummed(row);
        m_level = std::max(m_level, m_lowest);
        m_neverExact = true;
    }
}

bool RowWalk::load()
{
    if (!*m_pin && !m_failed) {
        *m_pin = m_ref->pin();
        m_failed = !*m_pin;
    }
    if (!m_failed && !m_entries)
        m_entries = (*m_pin)->rows.entries((*m_pin)->columns, *m_row);
    return !m_failed;
}

const RowLevel* RowWalk::level(int number)
{
    auto& kept = m_levels[static_cast<std::size_t>(number)];
    if (kept)
        return &*kept;
    const RowSummary& summary = m_ref->summary().rows;
    if (number >= lod::lowestSummed(*m_row))
        kept = summary.level(*m_row, number);
    else if (load())
        kept = (*m_pin)->rows.level(summary, *m_row, number);
    return kept ? &*kept : nullptr;
}

RowWalk::Cut RowWalk::cutAt(const RowLevel& level, std::int64_t time, std::uint32_t guess) const
{
    if (time <= m_row->begin)
        return {};
    if (time >= m_row->end)
        return {level.count(), static_cast<double>(m_row->count), static_cast<double>(m_row->covered)};
    Cut cut;
    cut.group = level.groupAt(time, guess);
    const std::int64_t begin = level.begin(cut.group);
    const std::int64_t before = level.before(cut.group);
    const std::uint32_t entries = cut.group << level.shift();
    if (level.shift() == 0) { // each group is one entry
        cut.entries = entries + (time > begin ? 1.0 : 0.0);
        cut.covered = static_cast<double>(before + std::min(time - begin, level.before(cut.group + 1) - before));
        return cut;
    }
    const std::uint32_t its = std::min(1U << level.shift(), m_row->count - entries);
    cut.length = static_cast<double>(level.begin(cut.group + 1) - begin);
    const double share = cut.length > 0 ? static_cast<double>(time - begin) / cut.length : 0;
    cut.entries = entries + share * its;
    cut.covered = static_cast<double>(before) + share * static_cast<double>(level.before(cut.group + 1) - before);
    return cut;
}

RowPart RowWalk::between(int number, const Cut& from, const Cut& to)
{
    RowPart part;
    const double entries = std::clamp(to.entries - from.entries, 0.0, static_cast<double>(m_row->count));
    part.count = static_cast<std::uint32_t>(entries + 0.5);
    part.covered = std::max(to.covered - from.covered, 0.0);
    if (part.count == 0 && part.covered <= 0)
        return part;
    part.count = std::max(part.count, 1U); // an entry that started before the bucket
    const RowLevel* groups = level(number);
    // Use groups that are wholly inside, if there are any; if there are many, use those of the next level up.
    std::uint32_t low = std::min(from.group + 1, to.group);
    std::uint32_t high = to.group;
    if (low >= high) {
        low = std::min(from.group, groups->count() - 1);
        high = low + 1;
    } else if (high - low >= kMinimumForLevelUp && lod::exists(*m_row, number + 1)) {
        groups = level(number + 1);
        low = (low + 3) / 4;
        high /= 4;
    }
    for (; low < high; ++low)
        groups->considerLongest(low, part.longest);
    if (m_palette)
        part.color.add(colorBetween(from.entries, to.entries, part.longest), part.covered);
    return part;
}

const RowColors* RowWalk::colors()
{
    // A block in memory has more detail than its summary in a file: groups of 16 slices rather than 64.
    const bool finest = (*m_pin || m_ref->resident()) && load();
    if (m_colors && finest == m_finestColors)
        return &*m_colors;
    const RowSummary& summary = m_ref->summary().rows;
    const RowSummary& rows = finest ? (*m_pin)->summary.rows : summary;
    const RowMix* const mix = rows.mix(static_cast<std::size_t>(m_row - summary.rows().data()));
    if (!mix)
        return nullptr;
    m_colors.emplace(*mix, rows.mixes(), finest ? (*m_pin)->rows.fineTimes() : std::span<const std::uint32_t>{},
                     m_row->kind, m_row->count, *m_palette);
    m_finestColors = finest;
    m_sumAt = -1;
    return &*m_colors;
}

MixedColor RowWalk::colorBetween(double fromEntry, double toEntry, const Longest& longest)
{
    const RowColors* const colors = this->colors();
    if (!colors)
        return colorOf(longest.name);
    const RowColors::Sum from = m_sumAt == fromEntry ? m_sum : colors->before(fromEntry);
    m_sum = colors->before(toEntry);
    m_sumAt = toEntry;
    return colors->average(from, m_sum, colorOf(longest.name));
}

void RowWalk::moveTo(std::int64_t time)
{
    const RowEntries& entries = *m_entries;
    m_place.entry = entries.firstFrom(time, m_place.entry);
    m_place.nextBegin = m_place.entry < m_row->count ? entries.begin(m_place.entry) : kNever;
    m_place.lastEnd = m_place.entry > 0 ? entries.end(m_place.entry - 1) : kBeforeAll;
    m_place.time = time;
}

/// Adds the groups from `entry` on whose entries all start before `end`.
/// @return the entry after them
std::uint32_t RowWalk::passGroups(std::uint32_t entry, std::int64_t end, RowPart& part)
{
    const RowLevel& groups = *level(0);
    const std::uint32_t first = entry >> groups.shift();
    std::uint32_t group = first;
    for (; group < groups.count() && groups.begin(group + 1) < end; ++group)
        groups.considerLongest(group, part.longest);
    if (group == first)
        return entry;
    const auto covered = static_cast<double>(groups.before(group) - groups.before(first));
    part.covered += covered;
    const std::uint32_t after = std::min(group << groups.shift(), m_row->count);
    if (m_palette)
        part.color.add(colorBetween(entry, after, part.longest), covered);
    return after;
}

/// Adds the entries that start between the current position and `end`, and moves the position to `end`.
void RowWalk::passTo(std::int64_t end, RowPart& part)
{
    const RowEntries& entries = *m_entries;
    const std::uint32_t groupMask =
        lod::shift(*m_row, 0) >= kMinimumForGroups ? (1U << lod::shift(*m_row, 0)) - 1 : ~0U;
    std::uint32_t entry = m_place.entry;
    std::int64_t sum = 0;
    while (m_place.nextBegin < end) {
        if (const std::uint32_t after = (entry & groupMask) == 0 ? passGroups(entry, end, part) : entry;
            after != entry) {
            entry = after;
            m_place.lastEnd = entries.end(entry - 1);
        } else {
            const std::int64_t duration = entries.duration(entry);
            m_place.lastEnd = m_place.nextBegin + duration;
            sum += duration;
            if (duration > part.longest.duration)
                part.longest = {duration, entries.name(entry)};
            if (m_palette)
                part.color.add(colorOf(entries.name(entry)), static_cast<double>(duration));
            ++entry;
        }
        m_place.nextBegin = entry < m_row->count ? entries.begin(entry) : kNever;
    }
    part.count += entry - m_place.entry;
    const std::int64_t beyond = std::max<std::int64_t>(m_place.lastEnd - end, 0);
    part.covered += static_cast<double>(sum - beyond);
    if (m_place.lastEnd >= end && entry != m_place.entry) {
        if (m_palette && beyond > 0)
            part.color.add(colorOf(entries.name(entry - 1)), -static_cast<double>(beyond));
        const std::int64_t inside = end - entries.begin(entry - 1), bucket = end - m_place.time;
        part.isOne = part.isOne || (inside + beyond >= bucket && 2 * inside >= bucket);
    }
    m_place.entry = entry;
    m_place.time = end;
}

RowPart RowWalk::exactly(std::int64_t begin, std::int64_t end)
{
    RowPart part;
    if (!load())
        return part;
    if (m_place.time != begin)
        moveTo(begin);
    if (m_place.lastEnd > begin) { // it started before the bucket
        const std::uint32_t last = m_place.entry - 1;
        part.count = 1;
        const std::int64_t inside = std::min(m_place.lastEnd, end) - begin;
        part.covered = static_cast<double>(m_place.lastEnd - begin);
        part.longest = {m_entries->duration(last), m_entries->name(last)};
        part.isOne = part.longest.duration >= end - begin && 2 * inside >= end - begin;
        if (m_palette)
            part.color.add(colorOf(part.longest.name), static_cast<double>(inside));
    }
    passTo(end, part);
    return part;
}

RowPart RowWalk::next(std::int64_t begin, std::int64_t end)
{
    for (int number = m_level; number >= m_lowest; --number) {
        const RowLevel* const groups = level(number);
        if (!groups)
            return {};
        const bool known = number == m_level && m_haveCut && m_edge == begin;
        const std::uint32_t guess = m_cut.group << 2 * (m_level - number);
        const Cut from = known ? m_cut : cutAt(*groups, begin, guess);
        const Cut to = cutAt(*groups, end, from.group + (number == m_level ? m_stride : 0));
        if (number == m_level) {
            m_stride = to.group - from.group;
            m_cut = to;
            m_edge = end;
            m_haveCut = true;
        }
        const double pause = kPause * static_cast<double>(end - begin);
        if ((to.group - from.group >= m_enough && from.length < pause && to.length < pause) ||
            (m_neverExact && number == m_lowest))
            return between(number, from, to);
    }
    return exactly(begin, end);
}

struct PlacedRow {
    const BlockRef* block;
    std::size_t pin; ///< index of its block's pin
    const Row* row;
};

constexpr double kNone = -1;

/// Totals for a bucket that its LodBucket does not contain, while rows are added kind by kind.
struct Tally {
    double coveredOfKind = kNone; ///< ns of the current kind
    double covered = 0;           ///< ns of all kinds so far
    double bestOfKind = kNone;    ///< ns of the kind with most time so far
    ColorSum color;
    std::int64_t longest = -1;
};

template <class Bucket>
constexpr bool kColored = std::is_same_v<Bucket, ColoredBucket>;

struct Coloring {
    const SlicePalette* palette;
    LodEdges edges;
};

/// Equal spans of a window. A span is at least 1 ns long, so spans overlap if the window has fewer ns than buckets.
class Spans {
public:
    Spans(TimeRange window, std::size_t count) : m_edges(count + 1)
    {
        constexpr std::int64_t kLimit = RawSlice::kTimeLimit;
        const std::int64_t begin = std::clamp(toNs(window.begin), -kLimit, kLimit);
        const std::int64_t all = std::clamp(toNs(window.end), begin, kLimit) - begin;
        const auto number = static_cast<std::int64_t>(count);
        const std::int64_t whole = all / number, rest = all % number;
        m_width = std::max<std::int64_t>(whole, 1);
        // Each edge is used many times, so all edges are computed once, without a division each.
        std::int64_t edge = begin, owed = 0;
        for (std::int64_t& at : m_edges) {
            at = edge;
            edge += whole;
            owed += rest;
            if (owed >= number) {
                owed -= number;
                ++edge;
            }
        }
    }
    /// Width of each span in ns; spans of a window differ by at most one ns.
    [[nodiscard]] std::int64_t width() const { return m_width; }
    [[nodiscard]] std::size_t count() const { return m_edges.size() - 1; }
    [[nodiscard]] std::int64_t begin(std::size_t index) const { return m_edges[index]; }
    [[nodiscard]] std::int64_t end(std::size_t index) const { return std::max(m_edges[index + 1], m_edges[index] + 1); }
    /// The first span that ends after `time`.
    [[nodiscard]] std::size_t firstEndingAfter(std::int64_t time) const
    {
        std::size_t low = 0;
        std::size_t high = count();
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (end(middle) <= time)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

private:
    std::vector<std::int64_t> m_edges;
    std::int64_t m_width = 1;
};

template <class Bucket>
void addRow(const PlacedRow& placed, BlockPin& pin, const Spans& spans, const Coloring& how, std::span<Bucket> buckets,
            std::vector<Tally>& tallies)
{
    RowWalk walk{*placed.block, pin, *placed.row, spans.width(), how.edges, how.palette};
    for (std::size_t i = spans.firstEndingAfter(placed.row->begin); i < spans.count(); ++i) {
        const std::int64_t begin = spans.begin(i);
        if (begin > placed.row->end)
            return;
        const RowPart part = walk.next(begin, spans.end(i));
        if (part.count == 0)
            continue;
        Tally& tally = tallies[i];
        buckets[i].count += part.count;
        if constexpr (kColored<Bucket>)
            buckets[i].isOne |= part.isOne;
        tally.coveredOfKind = std::max(tally.coveredOfKind, 0.0) + part.covered;
        tally.color.add(part.color);
        if (part.longest.duration > tally.longest) {
            tally.longest = part.longest.duration;
            buckets[i].name = StringId{part.longest.name};
        }
    }
}

template <class Bucket>
void closeKind(ActivityKind kind, std::span<Bucket> buckets, std::vector<Tally>& tallies)
{
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        Tally& tally = tallies[i];
        if (tally.coveredOfKind < 0)
            continue;
        if (tally.coveredOfKind > tally.bestOfKind) {
            tally.bestOfKind = tally.coveredOfKind;
            buckets[i].kind = kind;
        }
        tally.covered += tally.coveredOfKind;
        tally.coveredOfKind = kNone;
    }
}

template <class Bucket>
void sumUp(const TrackSlices& slices, int depth, TimeRange window, std::span<Bucket> buckets, const Coloring& how)
{
    std::fill(buckets.begin(), buckets.end(), Bucket{});
    if (buckets.empty())
        return;
    const auto blocks = slices.around(toNs(window.begin), toNs(window.end));
    std::vector<BlockPin> pins(blocks.size());
    std::vector<PlacedRow> placed;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (!blocks[i].summary().overlaps(toNs(window.begin), toNs(window.end)))
            continue;
        for (const Row& row : blocks[i].summary().rows.rows(depth))
            placed.push_back({&blocks[i], i, &row});
    }
    std::stable_sort(placed.begin(), placed.end(),
                     [](const PlacedRow& a, const PlacedRow& b) { return a.row->kind < b.row->kind; });
    const Spans spans{window, buckets.size()};
    std::vector<Tally> tallies(buckets.size());
    for (std::size_t i = 0; i < placed.size(); ++i) {
        addRow(placed[i], pins[placed[i].pin], spans, how, buckets, tallies);
        const ActivityKind kind = placed[i].row->kind;
        if (i + 1 == placed.size() || placed[i + 1].row->kind != kind)
            closeKind(kind, buckets, tallies);
    }
    // Spans differ by at most a nanosecond, so two divisions are enough for all.
    const double one = 1 / static_cast<double>(spans.width()), longer = 1 / static_cast<double>(spans.width() + 1);
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const double share = tallies[i].covered * (spans.end(i) - spans.begin(i) > spans.width() ? longer : one);
        buckets[i].busy = static_cast<float>(std::clamp(share, 0.0, 1.0));
        if constexpr (kColored<Bucket>) {
            if (tallies[i].covered > 0)
                buckets[i].color = tallies[i].color.over(tallies[i].covered);
            else if (buckets[i].count > 0) // slices without duration have a colour, too
                buckets[i].color = how.palette->colorOf(buckets[i].kind, buckets[i].name);
        }
    }
}

} // namespace

void Trace::summarize(TrackId track, int depth, TimeRange window, std::span<LodBucket> buckets, LodEdges edges) const
{
    sumUp(m->of(track), depth, window, buckets, {nullptr, edges});
}

void summarize(const Trace& trace, TrackId track, int depth, TimeRange window, std::span<ColoredBucket> buckets,
               LodEdges edges, const SlicePalette& palette)
{
    sumUp(trace.slicesOf(track), depth, window, buckets, {&palette, edges});
}

} // namespace profiler
