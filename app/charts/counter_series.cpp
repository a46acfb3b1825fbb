#include "app/charts/counter_series.h"

#include "profiler/model/track_slices.h"

#include <algorithm>

namespace app {

namespace {

constexpr std::size_t kBlock = 8; ///< entries of a level per entry of the next level

void widen(CounterSeries::Extent& extent, const CounterSeries::Extent& by)
{
    extent.least = std::min(extent.least, by.least);
    extent.most = std::max(extent.most, by.most);
}

} // namespace

void CounterSeries::read(const profiler::Trace& trace, profiler::TrackId counter)
{
    const profiler::TrackSlices& all = trace.slicesOf(counter);
    const std::size_t known = m_samples.size();
    for (; m_parts < all.spilledSamples.size(); ++m_parts) {
        const profiler::SampleRef& part = all.spilledSamples[m_parts];
        if (const auto some = part.source->samples(part.number))
            m_samples.insert(m_samples.end(), some->begin(), some->end());
    }
    for (; m_logged < all.samples.size(); ++m_logged)
        m_samples.push_back(all.samples[m_logged]);
    if (m_samples.size() == known)
        return;
    const auto earlier = [](const profiler::CounterSample& a, const profiler::CounterSample& b) {
        return a.time < b.time;
    };
    const auto fresh = m_samples.begin() + static_cast<std::ptrdiff_t>(known);
    if (!std::is_sorted(fresh, m_samples.end(), earlier))
        std::stable_sort(fresh, m_samples.end(), earlier);
    const auto changed = std::upper_bound(m_samples.begin(), fresh, *fresh, earlier);
    std::inplace_merge(changed, fresh, m_samples.end(), earlier);
    renewBlocks(static_cast<std::size_t>(changed - m_samples.begin()));
}

/// Updates the levels after samples from this one on have changed; no sample was removed.
void CounterSeries::renewBlocks(std::size_t from)
{
    if (from == 0)
        m_all = {m_samples[0].value, m_samples[0].value};
    for (std::size_t i = from; i < m_samples.size(); ++i)
        widen(m_all, {m_samples[i].value, m_samples[i].value});
    std::size_t below = m_samples.size();
    for (std::size_t level = 0; below >= kBlock; ++level) {
        if (level == m_levels.size())
            m_levels.emplace_back();
        const auto extentBelow = [&](std::size_t i) {
            return level > 0 ? m_levels[level - 1][i] : Extent{m_samples[i].value, m_samples[i].value};
        };
        std::vector<Extent>& blocks = m_levels[level];
        from = std::min(from / kBlock, blocks.size());
        blocks.resize(from);
        for (std::size_t i = from * kBlock; i < below; ++i) {
            if (i % kBlock == 0)
                blocks.push_back(extentBelow(i));
            else
                widen(blocks.back(), extentBelow(i));
        }
        below = blocks.size();
    }
}

CounterSeries::Extent CounterSeries::extent(std::size_t from, std::size_t to) const
{
    Extent extent{m_samples[from].value, m_samples[from].value};
    for (; from < to && from % kBlock != 0; ++from)
        widen(extent, {m_samples[from].value, m_samples[from].value});
    for (; from < to && to % kBlock != 0; --to)
        widen(extent, {m_samples[to - 1].value, m_samples[to - 1].value});
    // The remaining part starts and ends with partial blocks; from level to level only the blocks next to whole blocks
    // of the next level are read.
    for (std::size_t level = 0; from < to; ++level) {
        from /= kBlock;
        to /= kBlock;
        const std::vector<Extent>& blocks = m_levels[level];
        for (; from < to && from % kBlock != 0; ++from)
            widen(extent, blocks[from]);
        for (; from < to && to % kBlock != 0; --to)
            widen(extent, blocks[to - 1]);
    }
    return extent;
}

profiler::TimeRange shownRange(const profiler::Trace& trace)
{
    constexpr profiler::Nanoseconds kLeast{1000};
    profiler::TimeRange range = trace.range();
    if (!range.empty())
        return range;
    bool any = trace.sliceCount() > 0;
    for (const profiler::Track& track : trace.tracks()) {
        if (track.kind != profiler::TrackKind::Counter)
            continue;
        const auto samples = trace.counter(track.id);
        if (samples.empty())
            continue;
        const profiler::TimeRange own{samples.front().time, samples.back().time};
        range = any ? profiler::TimeRange{std::min(range.begin, own.begin), std::max(range.end, own.end)} : own;
        any = true;
    }
    if (any)
        range.end = std::max(range.end, range.begin + kLeast);
    return range;
}

} // namespace app
