#pragma once

#include "profiler/model/trace.h"

#include <span>
#include <string>
#include <vector>

namespace advisor {

/// Whose doing each of these calls is, or each of these copies that a call ordered: the outermost operator around the
/// call, and the innermost frame of Python, of the user's own code if there is one. Empty where neither is recorded, or
/// the copy's call is not.
std::vector<std::string> callersOf(const profiler::Trace& trace, std::span<const profiler::SliceId> ids);

} // namespace advisor
