#pragma once

#include "profiler/model/clock.h"

#include <functional>

namespace profiler::capture::injection {

/// The part of a run that is recorded, in trace time, which all processes of a machine share.
struct RecordedWindow {
    TraceTime from{};                   ///< long ago: from the process's first event on
    TraceTime until = TraceTime::max(); ///< never: to the process's end
};

/// What STEPSCOPE_FROM and STEPSCOPE_UNTIL say; a text that is no number says nothing.
RecordedWindow recordedWindow();

/// Calls `then` at that time on a thread of its own, which takes no signals of the program's. A process that ends
/// before does not wait for it, and a forked child has no such thread.
/// @return false: no thread could be made
bool callAt(TraceTime time, std::function<void()> then);

} // namespace profiler::capture::injection
