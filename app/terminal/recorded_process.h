#pragma once

#include "profiler/capture/collect_parts.h"
#include "profiler/model/recording_end.h"
#include "profiler/model/result.h"
#include "profiler/os/process.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// The command that `record` runs: its start and its end, and the traces of its processes, by rank.
namespace app::terminal {

/// How a command ended.
struct CommandEnd {
    profiler::os::ProcessId pid = 0;
    int status = 0; ///< exit status
    int signal = 0; ///< signal that ended it; 0: it exited
    /// The first signal to this process that requested an end; 0: none.
    int received = 0;
    bool fromTerminal = false; ///< `received` came from the terminal, which also sends it to the command
    std::string sender;        ///< sender of `received`: "timeout (4711)"; empty if unknown

    /// The shell's $?: the status, or 128 + signal number.
    [[nodiscard]] int shellStatus() const { return signal != 0 ? 128 + signal : status; }
    [[nodiscard]] std::string text() const; ///< "exited with status 0", "was killed by signal 11 (Segmentation fault)"
    /// For the trace: what ended the recording.
    [[nodiscard]] profiler::RecordingEnd recordingEnd() const;
};

/// Runs a command with this process's standard streams and terminal, and with `variables` set. Signals that would end
/// this process (SIGTERM, SIGHUP, SIGQUIT, SIGINT unless the terminal sent it to both, SIGUSR1, SIGUSR2) are passed on
/// to the command, and this process waits for the command to exit. Afterwards, these signals except SIGQUIT stay
/// blocked: a user who ended the command with a signal to the whole group still wants the trace. Fails if the command
/// cannot be started: not found, not executable, no memory.
/// @param started called once with the command's process id after it has started; may start threads
profiler::Result<CommandEnd> runCommand(const std::vector<std::string>& command,
                                        const std::vector<std::pair<std::string, std::string>>& variables,
                                        const std::function<void(profiler::os::ProcessId)>& started);

/// Waits until no process holds the lock on any of `files`, at most for the given time. Meanwhile, it reaps children
/// that the command left behind.
/// @return the files that are still locked
std::vector<std::filesystem::path> waitForWriters(std::vector<std::filesystem::path> files,
                                                  std::chrono::milliseconds atMost);

// The recording of a job: one trace per rank in one folder, and a manifest.

/// The parts of one rank: its training process and the processes that it started.
struct RankParts {
    std::vector<profiler::capture::TracePart> parts;
    std::map<std::string, std::string> metadata; ///< of the first one
};
/// Parts by rank. Those of processes without a rank, such as the launcher and the samples of the machine, are with the
/// lowest rank. Empty if fewer than `least` ranks have parts and the job has no others: the command did not start
/// ranks.
std::map<std::int64_t, RankParts> partsByRank(const std::vector<profiler::capture::TracePart>& parts,
                                              std::size_t least = 2);

struct RankFilesOptions {
    std::filesystem::path folder;                              ///< exists
    std::vector<std::pair<std::string, std::string>> metadata; ///< of each trace
    std::vector<profiler::Message> notes;                      ///< of the trace of the lowest rank
    std::string command, directory;
    std::string steps;          ///< "10-29"; empty: all
    std::string unrecorded;     ///< "1-6,8": ranks that ran unrecorded by choice; may be empty
    std::uint64_t maxBytes = 0; ///< of a rank; 0: no limit
    CommandEnd end;
};
/// Writes rank0.sstrace, rank1.sstrace … and job.json into the folder. If other machines of the job recorded into the
/// same folder, job.json lists their ranks as well. The trace of a rank that cannot be written becomes a note, and its
/// parts stay; fails if none can be written.
profiler::Result<profiler::capture::Collected> collectRanks(const std::map<std::int64_t, RankParts>& ranks,
                                                            const RankFilesOptions& options);

} // namespace app::terminal
