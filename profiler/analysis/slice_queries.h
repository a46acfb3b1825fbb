#pragma once

#include "profiler/analysis/slice_view.h"
#include "profiler/analysis/sort_runs.h"
#include "profiler/model/trace.h"

#include <algorithm>
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

namespace profiler::analysis {

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

} // namespace profiler::analysis
