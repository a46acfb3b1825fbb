#include "profiler/formats/pytorch/part_ranges.h"

#include "profiler/formats/pytorch/event_sink.h"

#include <algorithm>
#include <bit>

namespace profiler::formats::json {

namespace {

constexpr std::size_t kFewSlots = 64;

} // namespace

std::uint32_t PartRanges::groupOf(const RangeEnd& end)
{
    const std::size_t mask = m_slots.size() - 1;
    std::size_t slot = (end.key * 0x9E3779B97F4A7C15ULL >> 20) & mask;
    for (; m_slots[slot] != 0; slot = (slot + 1) & mask)
        if (m_groups[m_slots[slot] - 1].range.key == end.key)
            return m_slots[slot] - 1;
    const std::int64_t time = end.slice.begin;
    m_groups.push_back({.range = {.key = end.key, .first = time, .last = time}});
    m_slots[slot] = static_cast<std::uint32_t>(m_groups.size());
    return m_slots[slot] - 1;
}

void PartRanges::makeGroups()
{
    m_groups.clear();
    m_slots.assign(std::max(kFewSlots, std::bit_ceil(2 * m_ends.size())), 0);
    m_groupOf.resize(m_ends.size());
    for (std::size_t i = 0; i < m_ends.size(); ++i) {
        const std::uint32_t index = groupOf(m_ends[i]);
        const std::int64_t time = m_ends[i].slice.begin;
        m_groupOf[i] = index;
        Group& group = m_groups[index];
        ++group.count;
        group.inOrder = group.inOrder && time >= group.range.last;
        group.range.first = std::min(group.range.first, time);
        group.range.last = std::max(group.range.last, time);
    }
    m_place.clear();
    std::uint32_t place = 0;
    for (const Group& group : m_groups) {
        m_place.push_back(place);
        place += group.count;
    }
    m_order.resize(m_ends.size());
    for (std::size_t i = 0; i < m_ends.size(); ++i)
        m_order[m_place[m_groupOf[i]]++] = static_cast<std::uint32_t>(i);
}

void PartRanges::end(ScanResult& result, const TakeRange& take)
{
    if (m_ends.empty())
        return;
    makeGroups();
    std::uint32_t* order = m_order.data();
    for (Group& group : m_groups) {
        // At equal times, file order decides.
        if (!group.inOrder)
            std::stable_sort(order, order + group.count, [this](std::uint32_t a, std::uint32_t b) {
                return m_ends[a].slice.begin < m_ends[b].slice.begin;
            });
        group.range.begin = static_cast<std::uint32_t>(result.rangeEnds.size());
        join(group, order, result, take);
        group.range.count = static_cast<std::uint32_t>(result.rangeEnds.size()) - group.range.begin;
        result.rangeGroups.push_back(group.range);
        result.latest = std::max(result.latest, group.range.last);
        order += group.count;
    }
    m_ends.clear();
}

void PartRanges::join(const Group& group, std::uint32_t* order, ScanResult& result, const TakeRange& take)
{
    using Match = OpenRanges::Match;
    auto& left = result.rangeEnds;
    OpenRanges open;
    const auto leaveOpen = [&] {
        for (const RangeEnd& range : open.takeAll())
            left.push_back(range);
    };
    // The range of an earlier part that an end closes is unknown here, and so is what later ends close.
    bool unknown = m_gathered && m_gathered->contains(group.range.key);
    for (std::uint32_t i = 0; i < group.count; ++i) {
        const RangeEnd& end = m_ends[order[i]];
        if (unknown) {
            left.push_back(end);
        } else if (end.begins) {
            open.open(end);
        } else if (const auto [match, place] = open.find(end); match == Match::Nothing) {
            left.push_back(end);
        } else if (match == Match::Other && !open.isDeep()) {
            unknown = true;
            leaveOpen();
            left.push_back(end);
        } else {
            countMatch(match, end, result.losses);
            const RangeEnd range = open.close(place, end);
            take(range.rowId, range.slice);
        }
    }
    leaveOpen();
}

} // namespace profiler::formats::json
