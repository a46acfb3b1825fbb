#pragma once

#include "profiler/formats/container/records.h"

namespace profiler::capture {

/// Reads the three clocks at one moment. Several attempts are made, and the one with the shortest delay between the
/// reads is kept.
container::ClockTriple readClocks();

} // namespace profiler::capture
