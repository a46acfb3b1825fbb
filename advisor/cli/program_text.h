#pragma once

#include "profiler/model/trace.h"

#include <string>

namespace advisor::cli {

/// Tables of what a recorded Python program consists of, with which settings, and where each is set; empty where the
/// trace has no such facts.
std::string programText(const profiler::Trace& trace);

} // namespace advisor::cli
