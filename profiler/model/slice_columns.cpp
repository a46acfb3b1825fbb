#include "profiler/model/slice_columns.h"

#include <cassert>

namespace profiler {
namespace {

struct Ranges {
    ColumnRange begin, duration, link, name, args, external, source, kind, depth, flags, ordinalAhead;

    template <class Apply>
    void each(const RawSlice& slice, std::uint32_t position, Apply&& apply)
    {
        apply(begin, slice.begin);
        apply(duration, slice.duration);
        apply(link, slice.link);
        apply(name, slice.name);
        apply(args, slice.args);
        apply(external, slice.external);
        apply(source, static_cast<std::int64_t>(slice.source()));
        apply(kind, static_cast<std::int64_t>(slice.kind));
        apply(depth, slice.depth);
        apply(flags, slice.flags);
        apply(ordinalAhead, std::int64_t{slice.ordinal} - position);
    }
};

Ranges rangesOf(std::span<const RawSlice> slices)
{
    Ranges ranges;
    ranges.each(slices.front(), 0, [](ColumnRange& range, std::int64_t value) { range.start(value); });
    for (std::uint32_t i = 1; i < slices.size(); ++i)
        ranges.each(slices[i], i, [](ColumnRange& range, std::int64_t value) { range.add(value); });
    return ranges;
}

} // namespace

SliceColumns::SliceColumns(std::span<const RawSlice> sorted) : m_size(static_cast<std::uint32_t>(sorted.size()))
{
    assert(!sorted.empty() && sorted.size() <= kMaxSlices);
    const Ranges ranges = rangesOf(sorted);
    const RawSlice* const slices = sorted.data();
    m_times.begin = ranges.begin.pack(m_size, [=](std::uint32_t i) { return slices[i].begin; });
    m_times.duration = ranges.duration.pack(m_size, [=](std::uint32_t i) { return slices[i].duration; });
    m_link = ranges.link.pack(m_size, [=](std::uint32_t i) { return slices[i].link; });
    m_times.name = ranges.name.pack(m_size, [=](std::uint32_t i) { return slices[i].name; });
    m_args = ranges.args.pack(m_size, [=](std::uint32_t i) { return slices[i].args; });
    m_external = ranges.external.pack(m_size, [=](std::uint32_t i) { return slices[i].external; });
    m_source = ranges.source.pack(m_size, [=](std::uint32_t i) { return slices[i].source(); });
    m_kind = ranges.kind.pack(m_size, [=](std::uint32_t i) { return slices[i].kind; });
    m_depth = ranges.depth.pack(m_size, [=](std::uint32_t i) { return slices[i].depth; });
    m_flags = ranges.flags.pack(m_size, [=](std::uint32_t i) { return slices[i].flags; });
    m_ordinalAhead =
        ranges.ordinalAhead.pack(m_size, [=](std::uint32_t i) { return std::int64_t{slices[i].ordinal} - i; });
}

RawSlice SliceColumns::at(std::uint32_t position) const
{
    RawSlice slice;
    slice.begin = m_times.begin[position];
    slice.duration = m_times.duration[position];
    slice.link = m_link[position];
    slice.name = name(position);
    slice.args = static_cast<std::uint32_t>(m_args[position]);
    slice.ordinal = ordinal(position);
    slice.external = static_cast<std::uint32_t>(m_external[position]);
    slice.setSource(static_cast<std::uint64_t>(m_source[position]));
    slice.kind = static_cast<ActivityKind>(m_kind[position]);
    slice.depth = static_cast<std::uint8_t>(m_depth[position]);
    slice.flags = static_cast<std::uint8_t>(m_flags[position]);
    return slice;
}

std::uint32_t SliceColumns::firstFrom(std::int64_t time) const
{
    std::uint32_t low = 0;
    std::uint32_t high = m_size;
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (begin(middle) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

std::size_t SliceColumns::bytes() const
{
    std::size_t bytes = 0;
    for (const PackedColumn* column : {&m_times.begin, &m_times.duration, &m_link, &m_times.name, &m_args, &m_external,
                                       &m_source, &m_kind, &m_depth, &m_flags, &m_ordinalAhead})
        bytes += column->bytes();
    return bytes;
}

} // namespace profiler
