#include "profiler/formats/pytorch/ranges.h"
#include "profiler/formats/pytorch/event_sink.h"

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
    const auto last = m_open.rbegin() + std::ssize(m_open) - (isDeep() ? std::ssize(m_open) - kDeepest : 0);
    const auto found =
        std::find_if(m_open.rbegin(), last, [&](const RangeEnd& range) { return range.slice.name == end.slice.name; });
    if (found == last)
        return {Match::Other, innermost};
    return {Match::Crossed, static_cast<std::size_t>(m_open.rend() - found) - 1};
}

RangeEnd OpenRanges::close(std::size_t place, const RangeEnd& end)
{
    const auto which = m_open.begin() + static_cast<std::ptrdiff_t>(place);
    RangeEnd range = *which;
    m_open.erase(which);
    range.slice.duration = end.slice.begin - range.slice.begin;
    return range;
}

void countMatch(OpenRanges::Match match, const RangeEnd& end, Losses& losses)
{
    switch (match) {
    case OpenRanges::Match::Nothing:
        return losses.add(Loss::EndWithoutBegin, end.slice.source());
    case OpenRanges::Match::Crossed:
        return losses.add(Loss::EndsCrossed, end.slice.source());
    case OpenRanges::Match::Other:
        return losses.add(Loss::EndOfOther, end.slice.source());
    case OpenRanges::Match::Innermost:
        return;
    }
}

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

/// Adds slices to the rows of a part.
class RangeJoining::Rows {
public:
    explicit Rows(ScanResult& part) : m_part(part) {}

    void add(std::uint32_t rowId, const RawSlice& slice)
    {
        const auto [place, isNew] = m_rowOf.try_emplace(rowId, m_part.rows.size());
        if (isNew)
            m_part.rows.push_back({rowId, {}});
        m_part.rows[place->second].slices.push_back(slice);
    }

private:
    ScanResult& m_part;
    std::unordered_map<std::uint32_t, std::size_t> m_rowOf;
};

void RangeJoining::add(ScanResult& part)
{
    Rows rows(part);
    for (const RangeGroup& group : part.rangeGroups) {
        if (m_gathered && m_gathered->contains(group.key)) {
            for (std::uint32_t i = 0; i < group.count; ++i)
                m_ends.push_back(part.rangeEnds[group.begin + i]);
            continue;
        }
        std::int64_t& last = m_last.try_emplace(group.key, std::numeric_limits<std::int64_t>::min()).first->second;
        if (group.first < last)
            m_unordered.insert(group.key);
        last = std::max(last, group.last);
        for (std::uint32_t i = 0; i < group.count; ++i)
            take(part.rangeEnds[group.begin + i], rows, part.losses);
    }
    part.rangeEnds = {};
    part.rangeGroups = {};
}

void RangeJoining::take(const RangeEnd& end, Rows& rows, Losses& losses)
{
    const auto found = m_open.find(end.key);
    if (end.begins) {
        (found != m_open.end() ? found->second : m_open[end.key]).open(end);
        return;
    }
    if (found == m_open.end())
        return countMatch(OpenRanges::Match::Nothing, end, losses);
    OpenRanges& open = found->second;
    const auto [match, place] = open.find(end);
    countMatch(match, end, losses);
    const RangeEnd range = open.close(place, end);
    rows.add(range.rowId, range.slice);
    if (open.empty())
        m_open.erase(found);
}

void RangeJoining::finish(ScanResult& whole)
{
    Rows rows(whole);
    // At equal times, file order decides.
    std::sort(m_ends.begin(), m_ends.end(), [](const RangeEnd& a, const RangeEnd& b) {
        return std::tuple(a.key, a.slice.begin, a.slice.source()) < std::tuple(b.key, b.slice.begin, b.slice.source());
    });
    for (; !m_ends.empty(); m_ends.pop_front())
        take(m_ends.front(), rows, whole.losses);
    for (auto& [key, open] : m_open)
        for (RangeEnd& range : open.takeAll()) {
            whole.losses.add(Loss::BeginWithoutEnd, range.slice.source());
            range.slice.duration = std::max<std::int64_t>(whole.latest - range.slice.begin, 0);
            range.slice.flags |= slice_flag::kOpen;
            rows.add(range.rowId, range.slice);
        }
    m_open.clear();
    m_last.clear();
}

} // namespace profiler::formats::json
