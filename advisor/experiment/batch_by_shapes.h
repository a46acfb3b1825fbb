#pragma once

#include "profiler/model/message.h"
#include "profiler/model/trace.h"

namespace advisor {

/// Whether the batches of two traces have the same size, judged by the inputs of their operators.
struct BatchByShapes {
    profiler::Message difference; ///< empty: no difference is seen
    /// Nothing else explains it. The samples come first in what a convolution takes; in what a linear layer takes a
    /// sequence may, or all tokens in one.
    bool certain = false;
};

/// By the first of these operators of which both record the shapes: convolutions, linear layers. Linear layers are
/// certain where all their inputs of a trace begin with one number, and have the same dimensions besides in both.
BatchByShapes batchByShapes(const profiler::Trace& a, const profiler::Trace& b);

} // namespace advisor
