#pragma once

#include "profiler/model/trace.h"

#include <string>

namespace advisor {

/// Whether the batches of two traces are of one size, by what goes through their operators.
struct BatchByShapes {
    std::string difference; ///< a sentence; empty: none is seen
    /// Nothing else explains it. The samples come first in what a convolution takes; in what a linear layer takes a
    /// sequence may, or all tokens in one.
    bool certain = false;
};

/// By the first of these operators of which both record the shapes: convolutions, linear layers. Linear layers are
/// certain where all their inputs of a trace begin with one number, and have the same dimensions besides in both.
BatchByShapes batchByShapes(const profiler::Trace& a, const profiler::Trace& b);

} // namespace advisor
