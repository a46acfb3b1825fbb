#pragma once

#include <filesystem>

/// The far side of a trace that is open on another machine.
namespace app::terminal {

/// Opens a trace, converts it to a sealed file in a cache if it is not one, and answers requests for its bytes: lines
/// "OFFSET LENGTH" from standard input are answered by one Data frame each (advisor/runner/remote_frames.h). Ends when
/// standard input does.
/// @param cache  folder of converted traces. They are converted again when the trace has changed; those that were not
///               used for a month are deleted
/// @return the exit status for main()
int serveRemoteTrace(const std::filesystem::path& trace, const std::filesystem::path& cache);

} // namespace app::terminal
