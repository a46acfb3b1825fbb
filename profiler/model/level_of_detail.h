#pragma once

#include "profiler/model/row_mix.h"
#include "profiler/model/trace.h"

#include <span>

/// Summaries of a track for drawing: what each of many equal spans contains, with or without colours. Implements
/// Trace::summarize() too.
namespace profiler {

/// What a span of pixels contains, and the colour to draw it in.
struct ColoredBucket : LodBucket {
    bool isOne = false; ///< one slice, at least as long as the bucket, covers half of it or more; `name` is that
                        ///< slice's name
    MixedColor color;   ///< time-weighted average of the slices' colours, excluding idle time
};

/// Trace::summarize() with colours. In buckets with hundreds of slices, names outside the 15 that take most time in
/// their row share one average colour.
void summarize(const Trace& trace, TrackId track, int depth, TimeRange window, std::span<ColoredBucket> buckets,
               LodEdges edges, const SlicePalette& palette);

} // namespace profiler
