#pragma once

#include "advisor/runner/remote_host.h"
#include "profiler/model/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Prepares the other machine before a command of this program can run there: checks that it is of the same kind and
/// has space, and uploads stepscope-cli once.
namespace advisor::runner {

/// The uploaded program.
struct RemoteProgram {
    std::string root;    ///< folder of Stepscope's files there; contains the folders jobs and traces
    std::string program; ///< path of stepscope-cli there
};

/// The requirements of a command, which are checked before it starts.
struct RemoteNeeds {
    std::string folder;                   ///< its working directory; empty: that of the shell
    std::vector<std::string> environment; ///< NAME=VALUE
    std::string command;                  ///< its first word, which must exist there; empty: only Stepscope's program
    std::uint64_t freeBytes = 0;          ///< space for the files that it writes
};

/// @param uploading  called before the program is uploaded, with its size in bytes
/// @param goesOn  see RemoteHost::run(); false ends with remote.cancelled
profiler::Result<RemoteProgram> setUpRemoteProgram(const RemoteHost& host, const RemoteNeeds& needs,
                                                   const std::function<void(std::uint64_t)>& uploading,
                                                   const RemoteHost::GoesOn& goesOn);

/// The error of a script that did not answer: with the last line that the client printed.
profiler::Error unreachable(const RemoteHost& host, const RemoteHost::Ran& ran);

/// A name of a new job's folder there.
std::string newRemoteJob(const RemoteProgram& program);

/// A word for sh.
std::string shellWord(const std::string& word);

} // namespace advisor::runner
