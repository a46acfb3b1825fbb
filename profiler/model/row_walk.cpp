#include "profiler/model/row_walk.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

} // namespace

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
    const std::uint32_t groupMask = lod::shift(*m_row, 0) >= kMinimumForGroups ? (1U << lod::shift(*m_row, 0)) - 1 : ~0U;
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

} // namespace profiler
