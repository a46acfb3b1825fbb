#pragma once

#include "app/terminal/commands.h"

/// `record --host` and `record --through`: a command runs and is recorded on another machine, and the trace comes here.
namespace app::terminal {

/// @param options  `host` or `through` names the machine
/// @return as record(): the exit status of the command
int recordRemotely(const RecordOptions& options, const Streams& streams);

struct RemoteJobOptions {
    std::string action;                   ///< see remoteJob()
    std::filesystem::path job;            ///< its folder; ranks: file of the figures
    std::filesystem::path cache;          ///< serve, ranks, merge: folder of converted traces
    std::uint64_t output = 0, errors = 0; ///< follow: what has been sent before
    std::vector<std::string> command; ///< supervise; answer: the words of stepscope-cli; serve, ranks, merge: the path
    std::vector<std::int64_t> ranks;  ///< merge: their numbers
    std::optional<std::int64_t> step; ///< merge: its number
};
/// The far side (advisor/runner/remote_job.h, remote_answer.h).
int remoteJob(const RemoteJobOptions& options);

} // namespace app::terminal
