#pragma once

#include "advisor/runner/remote_host.h"
#include "advisor/runner/remote_setup.h"
#include "profiler/model/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// Commands of stepscope-cli that run in another place, next to the traces that they read. Only their answers come
/// here: text, an exit status, and the file that a command writes. The near side does not trust them.
namespace advisor::runner {

struct RemoteRequest {
    std::vector<std::string> words;   ///< of stepscope-cli: {"summarize", "run.sstrace"}
    std::string folder;               ///< its working directory; empty: that of the shell
    std::filesystem::path result;     ///< file that the command writes, and that comes here; empty: none
    std::size_t resultWord = 0;       ///< the one of `words` that ends with kRemoteResult, which becomes its path there
    std::uint64_t mostText = 1 << 28; ///< bytes of output
    bool isEndless = false;           ///< the command runs until it is cancelled; `mostText` is per second
    std::uint64_t mostResult = std::numeric_limits<std::uint64_t>::max(); ///< bytes of the file
    /// Called with text that cannot control a terminal.
    std::function<void(std::string_view)> output, errors;
    std::function<void(double)> received; ///< share of the file, [0, 1]; may be empty
    std::chrono::seconds mostSilence{30}; ///< the far side sends something every five seconds
    RemoteHost::GoesOn goesOn;            ///< called about ten times per second; false ends the command there
};
/// Stands for the path of the file that the command writes, in `words[resultWord]`.
inline constexpr std::string_view kRemoteResult = "@result";

/// Runs a command in the other place. Its process ends with the connection.
/// @return its exit status, between 0 and 255
profiler::Result<int> askRemote(const RemoteHost& host, const RemoteProgram& program, const RemoteRequest& request);

/// The far side: runs stepscope-cli with these words and sends its answer as frames (remote_frames.h) to standard
/// output. Ends when standard input does.
/// @param job  new folder for the file that the command writes; deleted at the end
/// @return the exit status for main()
int answerRemotely(const std::filesystem::path& job, const std::vector<std::string>& words);

} // namespace advisor::runner
