#pragma once

#include "advisor/runner/remote_trace.h"
#include "profiler/model/result.h"

#include <string>

namespace advisor::runner {

/// The job of the ranks in a folder, or in the files of a pattern, in another place: they are read there, and only
/// their figures come here. May take minutes. The far side is not trusted: the bytes are limited, and not checked
/// otherwise.
/// @param path  relative to the shell's folder there
/// @param opening  `converting` receives the share of the files that was read there
/// @return the bytes of profiler::job::encodeJob()
profiler::Result<std::string> readRemoteRanks(const RemoteHost& host, const std::string& path,
                                              const RemoteTrace::Opening& opening);

} // namespace advisor::runner
