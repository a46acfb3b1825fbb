#pragma once

#include "profiler/job/open_job.h"
#include "profiler/model/result.h"

#include <string>
#include <string_view>

namespace app {

/// A job on another machine, from the figures of its ranks, which are not trusted (profiler/job/job_digests.h): texts
/// are made harmless and bounded. It is analysed here. Takes as long as the analysis: not for the GUI thread.
/// @param host  prefix of the file names: "gpu1:/data/run/rank0.sstrace"
profiler::Result<profiler::job::Job> remoteJob(std::string_view bytes, const std::string& host);

} // namespace app
