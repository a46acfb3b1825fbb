#pragma once

#include "app/terminal/commands.h"
#include "profiler/analysis/job/scaling.h"

#include <string>

namespace app::terminal {

/// A part of the step as a row of a table: "exposed transfer".
std::string jobTimePartText(profiler::analysis::JobTimePart part);

/// `summarize --scaling`: each path is a job of another size. A single trace counts as a job with one rank.
int summarizeScaling(const SummarizeOptions& options, const Streams& streams);

} // namespace app::terminal
