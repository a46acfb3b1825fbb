#pragma once

#include "app/terminal/commands.h"

namespace app::terminal {

/// `diff` for two jobs. A single trace counts as a job with one rank.
int diffJobs(const DiffOptions& options, const Streams& streams);

} // namespace app::terminal
