#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// The far side of a recording on another machine. It has a folder with the files pid, output, errors, status and
/// report.json, and the folder trace; what it sends to standard output are the frames of remote_frames.h.
namespace advisor::runner {

namespace remote_job {
inline constexpr const char* kPid = "pid";       ///< of the recording program
inline constexpr const char* kOutput = "output"; ///< standard output of the command
inline constexpr const char* kErrors = "errors"; ///< its standard error
inline constexpr const char* kStatus = "status"; ///< written when it has ended
inline constexpr const char* kReport = "report.json";
inline constexpr const char* kTrace = "trace";
/// Environment variable of all processes of a job: its folder.
inline constexpr const char* kVariable = "STEPSCOPE_REMOTE_JOB";
} // namespace remote_job

/// Runs a command, with its signals as in a terminal, and writes its process id and its status. Outlives the connection
/// that started it. @return the exit status for main()
int superviseRemoteJob(const std::filesystem::path& job, const std::vector<std::string>& command);

/// Sends the command's output from these positions on as it is written, and its status when it has ended. Returns when
/// the connection is closed.
int followRemoteJob(const std::filesystem::path& job, std::uint64_t output, std::uint64_t errors);

/// Sends the report and all files of the trace's folder.
int sendRemoteFiles(const std::filesystem::path& job);

/// The files alone, on a stream that has begun. @return false if the connection is closed
bool sendJobFiles(const std::filesystem::path& job);

/// Interrupts the command, as Ctrl-C does; if it continues, it is terminated, and then killed. When this returns, no
/// process of the job runs.
/// @param isUrgent  kill it at once
int stopRemoteJob(const std::filesystem::path& job, bool isUrgent);

} // namespace advisor::runner
