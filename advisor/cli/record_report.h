#pragma once

#include "advisor/cli/commands.h"
#include "advisor/cli/recorded_process.h"
#include "profiler/capture/collect_parts.h"
#include "profiler/model/result.h"

#include <optional>

namespace advisor::cli {

/// What came of a recording.
struct RecordReport {
    std::optional<CommandEnd> end;                      ///< none: the command was not started
    std::optional<profiler::capture::Collected> result; ///< none: there is no trace
    std::optional<profiler::Error> error;               ///< why there is none
};

/// Says it where the options want it: a line on the error stream, JSON there, or JSON in a file and nothing else.
/// @return the exit status: the command's own; kBadInput where nothing was recorded and the command ended well
int say(const RecordReport& report, const RecordOptions& options, const Streams& streams);

} // namespace advisor::cli
