#pragma once

#include "profiler/model/trace.h"
#include "profiler/model/track_slices.h"

#include <cstdint>
#include <stop_token>

namespace profiler::analysis {

/// A slice that is read through the columns of its block. A query reads only the columns that it needs, whereas
/// creating a Slice reads all of them. Valid only during the visit.
class SliceView {
public:
    SliceView(const Trace& trace, TrackId track, const TrackBlock& block, std::uint32_t position)
        : m_trace(trace), m_block(block), m_track(track), m_position(position)
    {
    }

    [[nodiscard]] SliceId id() const { return {m_track, columns().ordinal(m_position)}; }
    [[nodiscard]] TraceTime begin() const { return traceTime(columns().begin(m_position)); }
    [[nodiscard]] Nanoseconds duration() const { return Nanoseconds{columns().duration(m_position)}; }
    [[nodiscard]] TraceTime end() const { return begin() + duration(); }
    [[nodiscard]] TimeRange range() const { return {begin(), end()}; }
    [[nodiscard]] StringId nameId() const { return StringId{columns().name(m_position)}; }
    [[nodiscard]] std::string_view name() const { return m_trace.string(nameId()); }
    [[nodiscard]] ActivityKind kind() const { return columns().kind(m_position); }
    [[nodiscard]] std::uint8_t depth() const { return columns().depth(m_position); }
    /// Correlation id of a call or of device work, see Slice::correlation; 0: none. Not for operators.
    [[nodiscard]] CorrelationId correlation() const
    {
        return CorrelationId{static_cast<std::uint64_t>(columns().link(m_position))};
    }
    /// Autograd's sequence number of an operator, see Slice::sequence; −1: none. Only for operators.
    [[nodiscard]] std::int64_t sequence() const { return columns().link(m_position); }
    /// Everything that is known about the slice.
    [[nodiscard]] Slice slice() const { return m_trace.sliceAt(m_track, m_block, m_position); }

private:
    [[nodiscard]] const SliceColumns& columns() const { return m_block.columns; }

    const Trace& m_trace;
    const TrackBlock& m_block;
    TrackId m_track;
    std::uint32_t m_position;
};

/// Calls `visit` with a view of every slice of a track, block by block, each block in order of starts.
/// @param stop  checked between blocks; after a stop, the remaining blocks are skipped
template <class Visit>
void forEachView(const Trace& trace, TrackId track, Visit&& visit, const std::stop_token& stop = {})
{
    for (const BlockRef& ref : trace.slicesOf(track).blocks) {
        if (stop.stop_requested())
            return;
        const BlockPin block = ref.pin();
        for (std::uint32_t position = 0; block && position < block->size(); ++position)
            visit(SliceView(trace, track, *block, position));
    }
}

/// The same for slices of one kind; blocks without any are skipped.
template <class Visit>
void forEachViewOf(const Trace& trace, TrackId track, ActivityKind kind, Visit&& visit,
                   const std::stop_token& stop = {})
{
    for (const BlockRef& ref : trace.slicesOf(track).blocks) {
        if (stop.stop_requested())
            return;
        if (!ref.summary().holds(kind))
            continue;
        const BlockPin block = ref.pin();
        for (std::uint32_t position = 0; block && position < block->size(); ++position)
            if (block->columns.kind(position) == kind)
                visit(SliceView(trace, track, *block, position));
    }
}

/// The fields of a slice that most analyses need, at a fifth of its size.
struct SliceBrief {
    TraceTime begin{};
    Nanoseconds duration{};
    SliceId id;
    StringId name;
    ActivityKind kind = ActivityKind::Other;
    std::uint8_t depth = 0;

    [[nodiscard]] constexpr TraceTime end() const { return begin + duration; }
    [[nodiscard]] constexpr TimeRange range() const { return {begin, end()}; }
};

} // namespace profiler::analysis
