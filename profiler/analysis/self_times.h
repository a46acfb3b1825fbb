#pragma once

#include "profiler/model/trace.h"

#include <functional>
#include <span>

namespace profiler::analysis {

/// A slice's place among the slices of its track.
struct Nested {
    const Slice* slice = nullptr;
    const Slice* parent = nullptr;        ///< innermost slice around it within `sorted`; null: outermost
    std::span<const Slice* const> around; ///< all slices around it, outermost first; valid during the visit only
    Nanoseconds self{};                   ///< its duration without what its children cover, never negative
};

/// Visits slices of one track with their self times, children before their parents.
/// @param sorted  as Trace::sorted() gives them (a subset is fine): by begin, longest first, properly nested. A slice
/// that
///                outlasts the one around it counts as its child up to the parent's end.
void forEachNested(std::span<const Slice> sorted, const std::function<void(const Nested&)>& visit);

} // namespace profiler::analysis
