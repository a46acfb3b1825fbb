#include "app/widgets/counter_series.h"

#include <algorithm>
#include <utility>

namespace app {

namespace {

constexpr std::size_t kBlock = 64;

void widen(CounterSeries::Extent& extent, const CounterSeries::Extent& by)
{
    extent.least = std::min(extent.least, by.least);
    extent.most = std::max(extent.most, by.most);
}

} // namespace

CounterSeries::CounterSeries(std::vector<profiler::CounterSample> samples) : m_samples(std::move(samples))
{
    for (std::size_t i = 0; i < m_samples.size(); ++i) {
        const Extent one{m_samples[i].value, m_samples[i].value};
        if (i % kBlock == 0)
            m_blocks.push_back(one);
        widen(m_blocks.back(), one);
    }
    if (m_blocks.empty())
        return;
    m_all = m_blocks.front();
    for (const Extent& block : m_blocks)
        widen(m_all, block);
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

} // namespace app
