#include "profiler/formats/pytorch/ranges.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <tuple>

namespace profiler::formats::json {

std::pair<OpenRanges::Match, std::size_t> OpenRanges::find(const RangeEnd& end) const
{
    if (m_open.empty())
        return {Match::Nothing, 0};
    const std::size_t innermost = m_open.size() - 1;
    if (!end.named || end.slice.name == m_open.back().slice.name)
        return {Match::Innermost, innermost};
    const auto last = isDeep() ? m_open.rbegin() + kDeepest : m_open.rend();
    const auto found =
        std::find_if(m_open.rbegin(), last, [&](const RangeEnd& range) { return range.slice.name == end.slice.name; });
    if (found == last)
        return {Match::Other, innermost};
    return {Match::Crossed, static_cast<std::size_t>(m_open.rend() - found) - 1};
}

RangeEnd OpenRanges::close(std::pair<Match, std::size_t> place, const RangeEnd& end, Losses& losses)
{
    if (place.first != Match::Innermost)
        losses.add(place.first == Match::Crossed ? Loss::EndsCrossed : Loss::EndOfOther, end.slice.source());
    const auto which = m_open.begin() + static_cast<std::ptrdiff_t>(place.second);
    RangeEnd range = *which;
    m_open.erase(which);
    range.slice.duration = end.slice.begin - range.slice.begin;
    return range;
}

/// The slot of a key's group, or the free slot where it belongs.
std::uint32_t& PartRanges::slotOf(std::uint64_t key)
{
    const std::size_t mask = m_slots.size() - 1;
    std::size_t slot = (key * 0x9E3779B97F4A7C15ULL >> 20) & mask;
    while (m_slots[slot] != 0 && m_groups[m_slots[slot] - 1].range.key != key)
        slot = (slot + 1) & mask;
    return m_slots[slot];
}

void PartRanges::makeGroups()
{
    constexpr std::size_t kFewSlots = 64;
    m_groups.clear();
    m_slots.assign(std::max(kFewSlots, std::bit_ceil(2 * m_ends.size())), 0);
    m_next.resize(m_ends.size());
    for (std::uint32_t i = 0; i < m_ends.size(); ++i) {
        const std::uint64_t key = m_ends[i].key;
        const std::int64_t time = m_ends[i].slice.begin;
        std::uint32_t& slot = slotOf(key);
        if (slot == 0) {
            m_groups.push_back({.range = {.key = key, .first = time, .last = time}, .first = i, .last = i});
            slot = static_cast<std::uint32_t>(m_groups.size());
            continue;
        }
        Group& group = m_groups[slot - 1];
        m_next[std::exchange(group.last, i)] = i;
        group.inOrder = group.inOrder && time >= group.range.last;
        group.range.first = std::min(group.range.first, time);
        group.range.last = std::max(group.range.last, time);
    }
}

/// At equal times, file order decides.
void PartRanges::orderEnds(const Group& group)
{
    m_order.clear();
    for (std::uint32_t i = group.first; i != group.last; i = m_next[i])
        m_order.push_back(i);
    m_order.push_back(group.last);
    if (!group.inOrder)
        std::stable_sort(m_order.begin(), m_order.end(), [this](std::uint32_t a, std::uint32_t b) {
            return m_ends[a].slice.begin < m_ends[b].slice.begin;
        });
}

void PartRanges::end(ScanResult& result, const TakeRange& take)
{
    if (m_ends.empty())
        return;
    makeGroups();
    for (Group& group : m_groups) {
        orderEnds(group);
        group.range.begin = static_cast<std::uint32_t>(result.rangeEnds.size());
        join(group.range.key, result, take);
        group.range.count = static_cast<std::uint32_t>(result.rangeEnds.size()) - group.range.begin;
        result.rangeGroups.push_back(group.range);
        result.latest = std::max(result.latest, group.range.last);
    }
    m_ends.clear();
}

/// Joins the ends in m_order, which have one key.
void PartRanges::join(std::uint64_t key, ScanResult& result, const TakeRange& take)
{
    using Match = OpenRanges::Match;
    auto& left = result.rangeEnds;
    OpenRanges open;
    const auto leaveOpen = [&] {
        const std::vector<RangeEnd> ranges = open.takeAll();
        left.insert(left.end(), ranges.begin(), ranges.end());
    };
    // The range of an earlier part that an end closes is unknown here, and so is what later ends close.
    bool unknown = m_gathered && m_gathered->contains(key);
    for (const std::uint32_t i : m_order) {
        const RangeEnd& end = m_ends[i];
        if (!unknown && end.begins) {
            open.open(end);
            continue;
        }
        const auto place = open.find(end);
        if (place.first == Match::Other && !open.isDeep()) {
            unknown = true;
            leaveOpen();
        }
        if (unknown || place.first == Match::Nothing) {
            left.push_back(end);
            continue;
        }
        const RangeEnd range = open.close(place, end, result.losses);
        take(range.rowId, range.slice);
    }
    leaveOpen();
}

void RangeJoining::add(ScanResult& part)
{
    for (const RangeGroup& group : part.rangeGroups) {
        const auto first = part.rangeEnds.begin() + group.begin, end = first + group.count;
        if (m_gathered && m_gathered->contains(group.key)) {
            m_ends.insert(m_ends.end(), first, end);
            continue;
        }
        std::int64_t& last = m_last.try_emplace(group.key, std::numeric_limits<std::int64_t>::min()).first->second;
        if (group.first < last)
            m_unordered.insert(group.key);
        last = std::max(last, group.last);
        std::for_each(first, end, [&](const RangeEnd& rangeEnd) { take(rangeEnd, part); });
    }
    part.rangeEnds = {};
    part.rangeGroups = {};
}

namespace {

void addSlice(ScanResult& part, std::uint32_t rowId, const RawSlice& slice)
{
    if (part.rows.empty() || part.rows.back().rowId != rowId)
        part.rows.push_back({rowId, {}});
    part.rows.back().slices.push_back(slice);
}

} // namespace

void RangeJoining::take(const RangeEnd& end, ScanResult& part)
{
    if (end.begins)
        return m_open[end.key].open(end);
    const auto found = m_open.find(end.key);
    if (found == m_open.end())
        return part.losses.add(Loss::EndWithoutBegin, end.slice.source());
    OpenRanges& open = found->second;
    const RangeEnd range = open.close(open.find(end), end, part.losses);
    addSlice(part, range.rowId, range.slice);
    if (open.empty())
        m_open.erase(found);
}

void RangeJoining::finish(ScanResult& whole)
{
    // At equal times, file order decides.
    std::sort(m_ends.begin(), m_ends.end(), [](const RangeEnd& a, const RangeEnd& b) {
        return std::tuple(a.key, a.slice.begin, a.slice.source()) < std::tuple(b.key, b.slice.begin, b.slice.source());
    });
    for (; !m_ends.empty(); m_ends.pop_front())
        take(m_ends.front(), whole);
    for (auto& [key, open] : m_open)
        for (RangeEnd& range : open.takeAll()) {
            whole.losses.add(Loss::BeginWithoutEnd, range.slice.source());
            range.slice.duration = std::max<std::int64_t>(whole.latest - range.slice.begin, 0);
            range.slice.flags |= slice_flag::kOpen;
            addSlice(whole, range.rowId, range.slice);
        }
    m_open.clear();
    m_last.clear();
}

} // namespace profiler::formats::json
