#pragma once

#include "profiler/analysis/slice_view.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <span>
#include <vector>

namespace profiler::analysis {

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
