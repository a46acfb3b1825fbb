#pragma once

#include "profiler/model/row_mix.h"
#include "profiler/model/trace.h"

#include <span>

namespace profiler {

/// What a span of pixels holds, and the colour to draw it in.
struct ColoredBucket : LodBucket {
    bool isOne = false; ///< a slice at least as long as the bucket covers half of it or more; `name` is its own
    MixedColor color;   ///< average of its slices' colours by time; without idle time
};

/// Trace::summarize() with colours. Where a bucket holds hundreds of slices, names that are not among the 15 with most
/// time in their row count as the average of those names.
void summarize(const Trace& trace, TrackId track, int depth, TimeRange window, std::span<ColoredBucket> buckets,
               LodEdges edges, const SlicePalette& palette);

} // namespace profiler
