#pragma once

#include "advisor/rule.h"

#include <optional>

namespace advisor {

/// Bytes that the highest step's peak loses at most when its batch is divided into so many passes: that share of what
/// the step adds to the memory allocated before it. Gradients are as large as before, so the peak may lose less. No
/// value where allocations were not recorded (level full).
std::optional<Saving> savedByParts(const RuleContext& c, double parts);

/// Bytes that a step's peak loses at most when what quick operators between products and convolutions keep is computed
/// again in the backward pass: the step's own allocations, replayed without that memory from the end of those operators
/// until the backward pass comes to them, and with what they need when they run again. Which operators form a block
/// with which product is not recorded: operators outside of blocks keep their memory, so the peak may lose less.
/// @return no value where allocations, the operators of a whole step or which backward belongs to which forward
///         operator were not recorded
std::optional<Saving> savedByRecomputing(const RuleContext& c);

} // namespace advisor
