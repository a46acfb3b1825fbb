#pragma once

#include "profiler/model/result.h"
#include "profiler/os/descriptor.h"
#include "profiler/os/process_tree.h"

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

/// A program that talks with its starter through pipes: the trainer, and tools such as git and the patcher of Python
/// files. It runs as a ProcessTree, so nothing that it starts outlives it or its starter.
namespace advisor {

using profiler::os::Descriptor;

/// Program, arguments and what the program gets beside its standard descriptors.
struct ChildCommand {
    std::filesystem::path program;
    std::vector<std::string> arguments;
    std::string file;        ///< text that the program can read as the file that `fileOption` names to it; empty: none
    std::string fileOption;  ///< "--config": followed by the file's name
    std::string extraOption; ///< "--progress-fd": followed by the number of a pipe that it writes to; empty: none
    bool joinErrors = true;  ///< stderr goes where stdout goes; else it is thrown away
};

/// A started program: our ends of its pipes, and its end. No thread of its own.
class ChildProcess {
public:
    /// The program gets the environment and the working directory of this process, and a session of its own: Ctrl-C in
    /// a terminal is for whoever started it.
    static profiler::Result<ChildProcess> start(const ChildCommand& command);
    ChildProcess() = default;

    [[nodiscard]] pid_t pid() const { return m_tree ? m_tree->program() : -1; }
    [[nodiscard]] int input() const { return m_input.get(); }   ///< a socket: send() with MSG_NOSIGNAL
    [[nodiscard]] int output() const { return m_output.get(); } ///< never blocks
    [[nodiscard]] int extra() const { return m_extra.get(); }   ///< never blocks; -1 when not asked for
    [[nodiscard]] int end() const { return m_tree ? m_tree->descriptor() : -1; } ///< readable once it ended

    /// As waitpid() reports it; nullopt while it runs.
    std::optional<int> status() { return m_tree ? m_tree->status() : std::nullopt; }
    /// Kills the program and all that it started; status() follows soon. The destructor waits for their end.
    void kill();

private:
    std::optional<profiler::os::ProcessTree> m_tree;
    Descriptor m_input, m_output, m_extra;
};

} // namespace advisor
