#pragma once

#include "advisor/rule.h"

#include <optional>

namespace advisor {

/// Bytes that the highest step's peak loses when its batch is divided into so many passes: that share of what the
/// forward pass adds, without the gradients that lie there during the later passes; at most that share of all that the
/// step adds. Recorded is what the allocator holds, at the level full; no value without.
std::optional<Saving> savedByParts(const Case& c, double parts);

/// Bytes that a step's peak loses when what quick operators between products and convolutions keep is computed again in
/// the backward pass: the step's own allocations, replayed without that memory from the end of those operators until
/// the backward pass comes to them, and with what they need besides when they run again. Which operators form a block
/// with which product is not recorded: at most, all goes that such operators keep; at least, what those keep that free
/// much for their time, without their result, which another block may read, and without the model's first and last
/// ones, which mostly stand outside of blocks.
/// @return no value where allocations, the operators of a whole step or which backward belongs to which forward
///         operator were not recorded
std::optional<Saving> savedByRecomputing(const Case& c);

} // namespace advisor
