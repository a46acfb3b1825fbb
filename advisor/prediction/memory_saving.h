#pragma once

#include "advisor/rule.h"

#include <optional>

namespace advisor {

/// Upper bound of the bytes that the highest peak of a step loses when its batch is split into this many passes: that
/// share of the memory that the step adds to the memory allocated before it. Gradients keep their size, so the peak may
/// lose less. No value if allocations were not recorded (level full).
std::optional<Saving> savedByParts(const RuleContext& c, double parts);

/// Upper bound of the bytes that a step's peak loses when the results of cheap operators between matmuls and
/// convolutions are recomputed in the backward pass: the step's own allocations are replayed without that memory from
/// the end of those operators until the backward pass reaches them, and with the memory that recomputing them needs.
/// The trace does not record which operators form a block with which matmul: operators outside of blocks keep their
/// memory, so the peak may lose less.
/// @return no value if allocations, the operators of a whole step or the links between forward and backward operators
/// were not recorded
std::optional<Saving> savedByRecomputing(const RuleContext& c);

} // namespace advisor
