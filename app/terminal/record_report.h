#pragma once

#include "app/terminal/commands.h"
#include "app/terminal/recorded_process.h"
#include "profiler/capture/collect_parts.h"
#include "profiler/model/result.h"

#include <optional>

namespace app::terminal {

/// The result of a recording.
struct RecordReport {
    std::optional<CommandEnd> end;                      ///< no value: the command was not started
    std::optional<profiler::capture::Collected> result; ///< no value: there is no trace
    std::optional<profiler::Error> error;               ///< why there is none
    std::filesystem::path written = {};                 ///< the trace, or the folder with one per rank
    std::size_t ranks = 0;                              ///< number of traces in the folder; 0: one trace
};

/// Reports the result as requested by the options: as a line on stderr, as JSON on stderr, or as JSON in a file.
/// @return the exit status: the command's own; kBadInput if nothing was recorded and the command succeeded
int say(const RecordReport& report, const RecordOptions& options, const Streams& streams);

} // namespace app::terminal
