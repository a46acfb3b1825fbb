#include "profiler/model/nesting.h"

#include <algorithm>
#include <limits>

namespace profiler {
namespace {

constexpr int kDeepest = 254;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

/// On equal intervals, slices with a known depth come first: slices that contain others usually have one.
bool comesBefore(const RawSlice& a, const RawSlice& b)
{
    if (a.begin != b.begin || a.duration != b.duration)
        return beginsBefore(a, b);
    return !a.inferred() && b.inferred();
}

} // namespace

DepthScan::DepthScan() : m_lastEnd(kNever)
{
    m_ends.fill(kNever);
}

void DepthScan::put(std::uint8_t depth, std::int64_t end)
{
    m_ends[depth] = std::max(m_ends[depth], end);
    m_lastEnd = std::max(m_lastEnd, end);
    m_depths = std::max(m_depths, depth + 1);
}

void DepthScan::add(const RawSlice& slice)
{
    put(slice.depth, slice.end());
    m_nested = false;
}

std::uint8_t DepthScan::infer(std::int64_t begin, std::int64_t end)
{
    while (!m_begun.empty() && m_begun.back() <= begin)
        m_begun.pop_back();
    m_overlapped = !m_begun.empty() && m_begun.back() < end;
    m_begun.push_back(end);
    if (m_lastEnd <= begin) {
        m_nested = true;
        m_running = 0;
    }
    if (m_nested) {
        const auto endAt = [&](int depth) { return m_ends[static_cast<std::size_t>(depth)]; };
        while (m_running > 0 && endAt(m_running - 1) <= begin)
            --m_running;
        m_nested = m_running < kDeepest && (m_running == 0 || endAt(m_running - 1) >= end);
        if (m_nested) {
            const auto depth = static_cast<std::uint8_t>(m_running++);
            put(depth, end);
            return depth;
        }
    }
    const std::uint8_t depth = search(begin, end);
    put(depth, end);
    return depth;
}

std::uint8_t DepthScan::search(std::int64_t begin, std::int64_t end) const
{
    const auto runs = [&](int depth) { return m_ends[static_cast<std::size_t>(depth)] > begin; };
    int depth = 0;
    for (int i = 0; i < m_depths; ++i) {
        if (runs(i) && m_ends[static_cast<std::size_t>(i)] >= end)
            depth = i + 1;
    }
    while (depth < m_depths && runs(depth))
        ++depth;
    return static_cast<std::uint8_t>(std::min(depth, kDeepest));
}

void inferDepths(std::span<RawSlice> slices, std::span<const RawSlice> context)
{
    DepthScan scan;
    std::size_t next = 0;
    for (std::size_t i = 0; i < slices.size();) {
        // Of slices with equal intervals, those with a known depth contain the others.
        std::size_t last = i;
        while (last < slices.size() && slices[last].begin == slices[i].begin &&
               slices[last].duration == slices[i].duration)
            ++last;
        while (next < context.size() && !comesBefore(slices[i], context[next]))
            scan.add(context[next++]);
        for (std::size_t k = i; k < last; ++k) {
            if (!slices[k].inferred())
                scan.add(slices[k]);
        }
        for (std::size_t k = i; k < last; ++k) {
            if (slices[k].inferred())
                slices[k].depth = scan.infer(slices[k].begin, slices[k].end());
        }
        i = last;
    }
}

} // namespace profiler
