#include "app/widgets/counter_series.h"

#include "profiler/model/track_slices.h"

#include <algorithm>

namespace app {

namespace {

constexpr std::size_t kBlock = 64;

void widen(CounterSeries::Extent& extent, const CounterSeries::Extent& by)
{
    extent.least = std::min(extent.least, by.least);
    extent.most = std::max(extent.most, by.most);
}

} // namespace

void CounterSeries::read(const profiler::Trace& trace, profiler::TrackId counter)
{
    const auto& log = trace.slicesOf(counter).samples;
    const std::size_t known = m_samples.size();
    if (log.size() <= known)
        return;
    for (std::size_t i = known; i < log.size(); ++i)
        m_samples.push_back(log[i]);
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

/// After samples from this one on have changed; none has gone.
void CounterSeries::renewBlocks(std::size_t from)
{
    from -= from % kBlock;
    m_blocks.resize(from / kBlock);
    for (std::size_t i = from; i < m_samples.size(); ++i) {
        const Extent one{m_samples[i].value, m_samples[i].value};
        if (i % kBlock == 0)
            m_blocks.push_back(one);
        widen(m_blocks.back(), one);
        if (i == 0)
            m_all = one;
        widen(m_all, one);
    }
}

CounterSeries::Extent CounterSeries::extent(std::size_t from, std::size_t to) const
{
    Extent extent{m_samples[from].value, m_samples[from].value};
    for (std::size_t i = from; i < to;) {
        if (i % kBlock == 0 && i + kBlock <= to) {
            widen(extent, m_blocks[i / kBlock]);
            i += kBlock;
        } else {
            widen(extent, {m_samples[i].value, m_samples[i].value});
            ++i;
        }
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
