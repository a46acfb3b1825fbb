#pragma once

#include "profiler/job/open_job.h"
#include "profiler/model/result.h"

#include <string>
#include <string_view>

/// A job without its traces, as bytes: for a job on another machine. A rank has about 30 bytes per collective.
namespace profiler::job {

/// Everything except the analysis.
std::string encodeJob(const Job& job);

/// The bytes are not trusted: numbers outside of what a job can have are refused, and lists are no longer than the
/// bytes allow, and the ranks can be analysed. Texts may contain anything.
/// @return the job without its analysis, which analysis::analyseJob() makes again; an error if encodeJob() of this
///         version cannot have written the bytes
Result<Job> decodeJob(std::string_view bytes);

} // namespace profiler::job
