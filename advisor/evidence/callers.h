#pragma once

#include "profiler/model/trace.h"

#include <span>
#include <string>
#include <vector>

namespace advisor {

/// The callers of API calls, or of copies that a call launched: the outermost operator around the call, and the
/// innermost Python frame, from the user's own code if there is one. Empty if neither is recorded, or if the call of
/// the copy is not recorded.
std::vector<std::string> callersOf(const profiler::Trace& trace, std::span<const profiler::SliceId> ids);

} // namespace advisor
