#pragma once

#include "profiler/model/result.h"
#include "profiler/os/descriptor.h"
#include "profiler/os/process_tree.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// A program that communicates with its parent through pipes: the trainer, and tools such as git and the patcher for
/// Python files. It runs as a ProcessTree, so nothing that it starts outlives it or its parent.
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

} // namespace advisor
