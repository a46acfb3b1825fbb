#include "profiler/model/nesting.h"

#include <algorithm>
#include <array>
#include <limits>

namespace profiler {
namespace {

constexpr int kDeepest = 254;

/// The latest end at each depth, of what began so far: enough to know what still runs, whatever the number of slices.
class Running {
public:
    Running() { m_ends.fill(std::numeric_limits<std::int64_t>::min()); }

    void add(const RawSlice& slice)
    {
        m_ends[slice.depth] = std::max(m_ends[slice.depth], slice.end());
        m_depths = std::max(m_depths, slice.depth + 1);
    }
    [[nodiscard]] std::uint8_t depthFor(const RawSlice& slice) const
    {
        int depth = 0;
        for (int i = 0; i < m_depths; ++i) {
            if (runs(i, slice) && m_ends[static_cast<std::size_t>(i)] >= slice.end())
                depth = i + 1;
        }
        while (depth < m_depths && runs(depth, slice))
            ++depth;
        return static_cast<std::uint8_t>(std::min(depth, kDeepest));
    }

private:
    [[nodiscard]] bool runs(int depth, const RawSlice& slice) const
    {
        return m_ends[static_cast<std::size_t>(depth)] > slice.begin;
    }

    std::array<std::int64_t, 256> m_ends;
    int m_depths = 0;
};

/// Known depths first among equals: what nests others is known more often than not.
bool comesBefore(const RawSlice& a, const RawSlice& b)
{
    if (a.begin != b.begin || a.duration != b.duration)
        return beginsBefore(a, b);
    return !a.inferred() && b.inferred();
}

} // namespace

void inferDepths(std::span<RawSlice> slices, std::span<const RawSlice> context)
{
    Running running;
    std::size_t next = 0;
    for (std::size_t i = 0; i < slices.size();) {
        // Slices of equal interval: those of known depth contain the others.
        std::size_t last = i;
        while (last < slices.size() && slices[last].begin == slices[i].begin &&
               slices[last].duration == slices[i].duration)
            ++last;
        while (next < context.size() && !comesBefore(slices[i], context[next]))
            running.add(context[next++]);
        for (std::size_t k = i; k < last; ++k) {
            if (!slices[k].inferred())
                running.add(slices[k]);
        }
        for (std::size_t k = i; k < last; ++k) {
            if (!slices[k].inferred())
                continue;
            slices[k].depth = running.depthFor(slices[k]);
            running.add(slices[k]);
        }
        i = last;
    }
}

} // namespace profiler
