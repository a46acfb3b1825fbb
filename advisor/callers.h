#pragma once

#include "profiler/model/trace.h"

#include <string>

namespace advisor {

/// Whose doing a call is, or a copy that a call ordered: the outermost operator around the call, and the innermost
/// frame of Python, of the user's own code if there is one. Empty where neither is recorded, or the copy's call is not.
std::string callerOf(const profiler::Trace& trace, profiler::SliceId id);

} // namespace advisor
