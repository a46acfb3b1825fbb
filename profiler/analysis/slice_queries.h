#pragma once

#include "profiler/model/trace.h"
#include "profiler/model/track_slices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// Ways to look at the slices of a track that are cheaper than Trace::sorted(): views of columns, selected slices,
/// briefs, and nesting with self times.
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

/// Sorts entries that arrive in a few sorted runs, like the slices of a track; equal entries keep their order. O(n) if
/// already sorted, otherwise O(n log runs).
template <class Entry, class Before>
void sortRuns(std::vector<Entry>& entries, Before&& before)
{
    std::vector<std::size_t> runs = {0}; // the starts of the runs, and the end
    for (std::size_t i = 1; i < entries.size(); ++i)
        if (before(entries[i], entries[i - 1]))
            runs.push_back(i);
    if (runs.size() == 1)
        return;
    runs.push_back(entries.size());
    std::vector<Entry> merged(entries.size());
    while (runs.size() > 2) {
        std::vector<std::size_t> larger = {0};
        for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
            const auto at = [&](std::size_t run) {
                return entries.begin() + static_cast<std::ptrdiff_t>(runs[std::min(run, runs.size() - 1)]);
            };
            std::merge(at(i), at(i + 1), at(i + 1), at(i + 2), merged.begin() + static_cast<std::ptrdiff_t>(runs[i]),
                       before);
            larger.push_back(runs[std::min(i + 2, runs.size() - 1)]);
        }
        entries.swap(merged);
        runs = std::move(larger);
    }
}

/// Caches the answer to a question about names; each name of a trace is evaluated once.
template <class Ask>
class NameAnswers {
public:
    using Answer = std::invoke_result_t<Ask, std::string_view>;

    NameAnswers(const Trace& trace, Ask ask) : m_trace(trace), m_ask(std::move(ask)), m_answers(trace.stringCount()) {}
    Answer operator()(StringId name)
    {
        std::optional<Answer>& answer = m_answers[name.value];
        if (!answer)
            answer = m_ask(m_trace.string(name));
        return *answer;
    }

private:
    const Trace& m_trace;
    Ask m_ask;
    std::vector<std::optional<Answer>> m_answers; ///< by string id
};

/// A window that contains all slices. Trace::range() excludes instants at its end.
inline constexpr TimeRange kAllTime{TraceTime::min(), TraceTime::max()};

/// True if `is` accepts any name of the trace. Does not look at slices.
bool anyName(const Trace& trace, const std::function<bool(std::string_view name)>& is);
/// True if there is a slice of this kind. Does not look at slices.
bool hasKind(const Trace& trace, ActivityKind kind);
/// The slices of Trace::ofKind() whose name `named` accepts. Each name is evaluated once; other slices cost a look at
/// two columns.
std::vector<Slice> ofKindNamed(const Trace& trace, ActivityKind kind,
                               const std::function<bool(std::string_view name)>& named);

/// Sorts by start, longer and outer slices first; equal slices keep their order. Slices are large and mostly arrive in
/// a few sorted runs, so keys are merged and each slice is moved once.
void sortByNesting(std::vector<Slice>& slices);

/// The slices of a track that `wanted` accepts, in the order of Trace::sorted(). Other slices cost only what `wanted`
/// looks at.
/// @param wanted  bool(const SliceView&)
template <class Wanted>
std::vector<Slice> sortedWhere(const Trace& trace, TrackId track, Wanted&& wanted)
{
    std::vector<Slice> slices;
    forEachView(trace, track, [&](const SliceView& view) {
        if (wanted(view))
            slices.push_back(view.slice());
    });
    sortByNesting(slices);
    return slices;
}

/// The same for briefs.
/// @param stop  checked periodically; after a stop, the result is empty
template <class Wanted>
std::vector<SliceBrief> briefsWhere(const Trace& trace, TrackId track, Wanted&& wanted,
                                    const std::stop_token& stop = {})
{
    constexpr std::size_t kMostAhead = std::size_t{1} << 20; // most tracks are wanted entirely or hardly at all
    std::vector<SliceBrief> briefs;
    const auto take = [&](const SliceView& view) {
        if (!wanted(view))
            return;
        if (briefs.empty())
            briefs.reserve(std::min(trace.sliceCount(track), kMostAhead));
        briefs.push_back({view.begin(), view.duration(), view.id(), view.nameId(), view.kind(), view.depth()});
    };
    forEachView(trace, track, take, stop);
    if (stop.stop_requested())
        return {};
    sortRuns(briefs, [](const SliceBrief& a, const SliceBrief& b) {
        return std::tuple{a.begin, -a.duration, a.depth} < std::tuple{b.begin, -b.duration, b.depth};
    });
    return briefs;
}

/// Kernels of a stream, by start.
std::vector<SliceBrief> kernelsOf(const Trace& trace, TrackId stream);

/// @param window  sorted, disjoint
inline bool beginsWithin(TraceTime begin, std::span<const TimeRange> window)
{
    const auto after = std::upper_bound(window.begin(), window.end(), begin,
                                        [](TraceTime time, const TimeRange& range) { return time < range.begin; });
    return after != window.begin() && std::prev(after)->contains(begin);
}
inline bool beginsWithin(const Slice& slice, std::span<const TimeRange> window)
{
    return beginsWithin(slice.begin, window);
}

/// A slice and its position in the nesting of its track.
template <class AnySlice>
struct NestedOf {
    const AnySlice* slice = nullptr;
    const AnySlice* parent = nullptr;        ///< innermost slice around it within `sorted`; null: outermost
    std::span<const AnySlice* const> around; ///< all enclosing slices, outermost first; valid only during the visit
    Nanoseconds self{};                      ///< its duration minus the time covered by its children, never negative
};
using Nested = NestedOf<Slice>;
using NestedBrief = NestedOf<SliceBrief>;

/// Visits slices of one track with their self times, children before their parents.
/// @param sorted  slices or briefs as returned by sortedWhere(): by start, longest first, properly nested. A slice that
///                ends after its parent counts as a child up to the parent's end.
/// @param visit   void(const NestedOf<AnySlice>&)
/// @param enter   void(const AnySlice&): called for each slice before its children are visited
template <class AnySlice, class Visit, class Enter>
void forEachNested(std::span<const AnySlice> sorted, Visit&& visit, Enter&& enter)
{
    std::vector<const AnySlice*> open;
    std::vector<Nanoseconds> covered; // time covered by children, for each open slice
    const auto close = [&] {
        const AnySlice* slice = open.back();
        const Nanoseconds self = std::max(slice->duration - covered.back(), Nanoseconds{0});
        open.pop_back();
        covered.pop_back();
        visit(NestedOf<AnySlice>{slice, open.empty() ? nullptr : open.back(), open, self});
    };
    for (const AnySlice& slice : sorted) {
        while (!open.empty() && open.back()->end() <= slice.begin)
            close();
        if (!open.empty())
            covered.back() += slice.range().clippedTo(open.back()->range()).duration();
        open.push_back(&slice);
        covered.emplace_back(0);
        enter(slice);
    }
    while (!open.empty())
        close();
}
template <class AnySlice, class Visit>
void forEachNested(std::span<const AnySlice> sorted, Visit&& visit)
{
    forEachNested(sorted, visit, [](const AnySlice&) {});
}
template <class AnySlice, class Visit>
void forEachNested(const std::vector<AnySlice>& sorted, Visit&& visit)
{
    forEachNested(std::span<const AnySlice>(sorted), visit);
}

} // namespace profiler::analysis
