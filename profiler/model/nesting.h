#pragma once

#include "profiler/model/slice_columns.h"

#include <span>

namespace profiler {

/// Sets the depth of every slice of `slices` whose depth is to be inferred: one deeper than the deepest slice that
/// contains it; a slice that only overlaps another gets the next free depth, so that slices of a depth do not overlap.
/// @param slices   of one track, in the order of beginsBefore
/// @param context  other slices of the track that overlap them, same order; their depths stand
void inferDepths(std::span<RawSlice> slices, std::span<const RawSlice> context);

} // namespace profiler
