#pragma once

#include "profiler/model/trace.h"

#include <string>

namespace app::terminal {

/// Tables of the parts of a recorded Python program, their settings, and where each is set; empty if the trace has no
/// such facts.
std::string programText(const profiler::Trace& trace);

} // namespace app::terminal
