#include "profiler/capture/clock_alignment.h"

#include "profiler/capture/fast_clock.h"
#include "profiler/os/clocks.h"

#include <algorithm>

namespace profiler::capture {

namespace {

/// y at `x` on the line through two points. Uses long double because TSC values and ns since the epoch need more than
/// 53 bits.
std::int64_t onLine(long double x, long double x0, long double y0, long double x1, long double y1)
{
    return static_cast<std::int64_t>(y0 + (x - x0) * (y1 - y0) / (x1 - x0));
}

} // namespace

wire::ClockTriple readClocks()
{
    constexpr int kTries = 5;
    wire::ClockTriple best{};
    std::int64_t closest = 0;
    for (int i = 0; i < kTries; ++i) {
        const std::int64_t before = os::monotonicTime().count();
        const std::int64_t realtime = os::realTime().count();
        const std::uint64_t tsc = timeStampCounter();
        const std::int64_t after = os::monotonicTime().count();
        if (i == 0 || after - before < closest) {
            closest = after - before;
            best = {before + (after - before) / 2, realtime, tsc};
        }
    }
    return best;
}

void ClockAlignment::add(const wire::ClockTriple& triple)
{
    const auto after = std::lower_bound(m_triples.begin(), m_triples.end(), triple.monotonicNs,
                                        [](const wire::ClockTriple& t, std::int64_t ns) { return t.monotonicNs < ns; });
    if (after != m_triples.end() && (after->monotonicNs == triple.monotonicNs || after->tsc < triple.tsc))
        return;
    if (after != m_triples.begin() && std::prev(after)->tsc > triple.tsc)
        return;
    m_triples.insert(after, triple);
}

TraceTime ClockAlignment::fromRealtime(std::int64_t realtimeNs) const
{
    if (m_triples.empty())
        return traceTime(realtimeNs);
    // REALTIME may step back, so the triples need not be sorted by it: use the first pair around the time.
    for (std::size_t i = 0; i + 1 < m_triples.size(); ++i) {
        const wire::ClockTriple &a = m_triples[i], &b = m_triples[i + 1];
        if (a.realtimeNs <= realtimeNs && realtimeNs < b.realtimeNs)
            return traceTime(onLine(realtimeNs, a.realtimeNs, a.monotonicNs, b.realtimeNs, b.monotonicNs));
    }
    const wire::ClockTriple& edge = realtimeNs < m_triples.front().realtimeNs ? m_triples.front() : m_triples.back();
    return traceTime(edge.monotonicNs + (realtimeNs - edge.realtimeNs));
}

std::int64_t ClockAlignment::toRealtime(TraceTime time) const
{
    const std::int64_t ns = toNs(time);
    if (m_triples.empty())
        return ns;
    const auto after =
        std::lower_bound(m_triples.begin(), m_triples.end(), ns,
                         [](const wire::ClockTriple& t, std::int64_t value) { return t.monotonicNs < value; });
    if (after == m_triples.begin())
        return after->realtimeNs + (ns - after->monotonicNs);
    const wire::ClockTriple& before = *std::prev(after);
    if (after == m_triples.end())
        return before.realtimeNs + (ns - before.monotonicNs);
    return onLine(ns, before.monotonicNs, before.realtimeNs, after->monotonicNs, after->realtimeNs);
}

TraceTime ClockAlignment::fromTsc(std::uint64_t tsc) const
{
    if (m_triples.size() < 2 || m_triples.front().tsc == m_triples.back().tsc)
        return traceTime(static_cast<std::int64_t>(tsc));
    auto after = std::lower_bound(m_triples.begin(), m_triples.end(), tsc,
                                  [](const wire::ClockTriple& t, std::uint64_t value) { return t.tsc < value; });
    const bool inside = after != m_triples.begin() && after != m_triples.end() && std::prev(after)->tsc < after->tsc;
    if (inside)
        return traceTime(
            onLine(tsc, std::prev(after)->tsc, std::prev(after)->monotonicNs, after->tsc, after->monotonicNs));
    // Outside the triples, use the rate over the whole run, starting from the nearer end.
    const wire::ClockTriple &first = m_triples.front(), &last = m_triples.back();
    const wire::ClockTriple& near = tsc <= first.tsc ? first : last;
    const long double nsPerTick =
        static_cast<long double>(last.monotonicNs - first.monotonicNs) / static_cast<long double>(last.tsc - first.tsc);
    const long double ticks = static_cast<long double>(tsc) - static_cast<long double>(near.tsc);
    return traceTime(near.monotonicNs + static_cast<std::int64_t>(ticks * nsPerTick));
}

} // namespace profiler::capture
