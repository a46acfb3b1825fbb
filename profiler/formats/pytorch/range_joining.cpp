#include "profiler/formats/pytorch/range_joining.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace profiler::formats::json {

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
