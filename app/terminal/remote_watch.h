#pragma once

#include "app/terminal/commands.h"
#include "profiler/model/result.h"
#include "profiler/monitor/recording_watch.h"

#include <functional>

/// A running recording on another machine: the uploaded stepscope-cli follows it there, and sends its state.
namespace app::terminal {

/// Receives a state, and the time by the clock of the other machine, since 1970.
using ShowStatus =
    std::function<profiler::Result<void>(const profiler::monitor::RecordingStatus&, profiler::Nanoseconds)>;

/// Shows the states of the recording until it ends there, or Ctrl-C. Connects again after the connection was lost, at
/// most 30 s later and as often as needed; the process there ends with the connection. What comes from there is not
/// trusted.
/// @return the exit status for main()
int watchRemotely(const WatchOptions& options, const ShowStatus& show, const Streams& streams);

} // namespace app::terminal
