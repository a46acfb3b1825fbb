#pragma once

#include "profiler/job/open_job.h"
#include "profiler/model/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace app {

struct RemoteJob {
    profiler::job::Job job;         ///< its files have names to show, each once: "gpu1:/data/run/rank0.sstrace"
    std::vector<std::string> paths; ///< of job.files.files on the other machine, with whatever characters they have
};

/// A job on another machine, from the figures of its ranks, which are not trusted (profiler/job/job_digests.h): texts
/// are made harmless and bounded. It is analysed here. Takes as long as the analysis: not for the GUI thread.
/// @param host  prefix of the names of the files
profiler::Result<RemoteJob> remoteJob(std::string_view bytes, const std::string& host);

} // namespace app
