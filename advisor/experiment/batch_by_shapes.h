#pragma once

#include "profiler/model/message.h"
#include "profiler/model/trace.h"

namespace advisor {

/// Compares the batch sizes of two traces by the inputs of their operators.
struct BatchByShapes {
    profiler::Message difference; ///< empty: no difference was found
    /// True if there is no other explanation. In the input of a convolution, samples come first; in the input of a
    /// linear layer, a sequence may come first, or all tokens in one dimension.
    bool certain = false;
};

/// Uses the first of these operators whose shapes both traces record: convolutions, linear layers. For linear layers,
/// the result is certain if all inputs of a trace begin with the same number and the other dimensions are equal in both
/// traces.
BatchByShapes batchByShapes(const profiler::Trace& a, const profiler::Trace& b);

} // namespace advisor
