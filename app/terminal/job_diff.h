#pragma once

#include "app/terminal/commands.h"

namespace advisor::cli {

/// `diff` for two jobs. A single trace counts as a job with one rank.
int diffJobs(const DiffOptions& options, const Streams& streams);

} // namespace advisor::cli
