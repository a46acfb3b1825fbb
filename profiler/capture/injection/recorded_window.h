#pragma once

#include "profiler/model/clock.h"

#include <functional>

namespace profiler::capture::injection {

/// The part of a run that is recorded, in trace time, which is the same for all processes of a machine.
struct RecordedWindow {
    TraceTime from{};                   ///< default: from the process's first event
    TraceTime until = TraceTime::max(); ///< default: until the process ends
};

/// The window given by STEPSCOPE_FROM and STEPSCOPE_UNTIL; values that are not numbers are ignored.
RecordedWindow recordedWindow();

/// Calls `then` at that time on a separate thread, which does not receive the program's signals. A process that ends
/// earlier does not wait for it, and a forked child has no such thread.
/// @return false if the thread could not be created
bool callAt(TraceTime time, std::function<void()> then);

} // namespace profiler::capture::injection
