#pragma once

#include "advisor/runner/remote_trace.h"
#include "profiler/model/result.h"

#include <string>

namespace advisor::runner {

/// Reads the ranks of a job in a folder, or in the files of a pattern, on another machine: they are analysed there, and
/// only their figures are transferred. May take minutes. The number of bytes is limited; decodeJob() checks them,
/// because the other machine is not trusted.
/// @param path  relative to the shell's folder there
/// @param opening  `converting` receives the share of the files that was read there
/// @return the bytes of profiler::job::encodeJob()
profiler::Result<std::string> readRemoteRanks(const RemoteHost& host, const std::string& path,
                                              const RemoteTrace::Opening& opening);

} // namespace advisor::runner
