#pragma once

#include "profiler/model/result.h"
#include "profiler/os/files.h"
#include "profiler/os/process_tree.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Programs that communicate with their parent through pipes: the trainer, and short-lived tools such as git and the
/// patcher for Python files. They run as a ProcessTree, so nothing that they start outlives them or their parent. The
/// end of what a program printed explains why it failed.
namespace advisor {

using profiler::os::Descriptor;

/// The program, its arguments, and the descriptors that it receives in addition to the standard ones.
struct ChildCommand {
    std::filesystem::path program;
    std::vector<std::string> arguments;
    std::string file;        ///< text that the program can read from the file that `fileOption` passes to it; empty:
                             ///< none
    std::string fileOption;  ///< "--config": followed by the name of the file
    std::string extraOption; ///< "--progress-fd": followed by the number of a pipe that the program writes to; empty:
                             ///< none
    bool joinErrors = true;  ///< stderr goes to the same place as stdout; otherwise it is discarded
};

/// A started program: our ends of its pipes, and its exit status. Starts no thread.
class ChildProcess {
public:
    /// The program gets the environment and the working directory of this process, and its own session: Ctrl-C in a
    /// terminal reaches only the process that started it.
    static profiler::Result<ChildProcess> start(const ChildCommand& command);
    ChildProcess() = default;

    [[nodiscard]] profiler::os::ProcessId pid() const { return m_tree ? m_tree->program() : -1; }
    [[nodiscard]] int input() const { return m_input.get(); }   ///< a socket: use os::sendAll()
    [[nodiscard]] int output() const { return m_output.get(); } ///< non-blocking
    [[nodiscard]] int extra() const { return m_extra.get(); }   ///< non-blocking; -1 if not requested
    [[nodiscard]] int end() const
    {
        return m_tree ? m_tree->descriptor() : -1;
    } ///< readable after the program has
      ///< exited

    /// Status as reported by waitpid(), see os::exitStatus(); nullopt while the program runs.
    std::optional<int> status() { return m_tree ? m_tree->status() : std::nullopt; }
    /// Kills the program and all processes that it started; status() follows soon. The destructor waits until they have
    /// exited.
    void kill();

private:
    std::optional<profiler::os::ProcessTree> m_tree;
    Descriptor m_input, m_output, m_extra;
};

/// The end of a program's output, whatever its length.
class OutputTail {
public:
    void add(std::string_view text);
    /// The last lines (at most twenty) as valid UTF-8 without control characters, ready to be shown and stored.
    [[nodiscard]] std::string lastLines() const;

private:
    std::string m_text;
};

/// True if an error is about a resource that two programs may lack together but one of them could get: memory, or a
/// port that the program's text mentions.
bool namesScarceResource(std::string_view error);
/// True if the error says that a file could not be written because of its size.
bool namesFullDisk(std::string_view error);
/// True if the error is about the port.
bool namesTakenPort(std::string_view error);

} // namespace advisor

/// Short-lived programs that answer on their standard output: the patcher's interpreter and git.
namespace advisor::change {

struct ToolOutput {
    int status = -1; ///< exit status; 128 + signal number if a signal ended it
    std::string text;
};

struct ToolLimits {
    /// Chosen: parsing a hundred large source files takes a few seconds.
    std::chrono::milliseconds time = std::chrono::seconds(30);
    std::size_t bytes = std::size_t{64} << 20;
};

/// Runs a program until it exits. Its standard input is empty.
/// @return an error if it cannot be started or exceeds a limit, in which case it is killed
profiler::Result<ToolOutput> runTool(const ChildCommand& command, const ToolLimits& limits = {});

/// Finds a program by name in the absolute folders of PATH; a name with a slash is a path.
profiler::Result<std::filesystem::path> findTool(std::string_view name);

} // namespace advisor::change
