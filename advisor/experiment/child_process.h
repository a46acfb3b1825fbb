#pragma once

#include "profiler/model/result.h"
#include "profiler/os/descriptor.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

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
///
/// The kernel ends the program with the *thread* that started it (PR_SET_PDEATHSIG), so that a crash of ours leaves
/// nobody behind: start it from a thread that outlives it.
class ChildProcess {
public:
    static profiler::Result<ChildProcess> start(const ChildCommand& command);
    ChildProcess() = default;
    ChildProcess(ChildProcess&&) noexcept;
    ChildProcess& operator=(ChildProcess&&) noexcept;
    /// Kills what still runs, and waits for its end.
    ~ChildProcess();

    [[nodiscard]] pid_t pid() const { return m_pid; }
    [[nodiscard]] int input() const { return m_input.get(); }   ///< a socket: send() with MSG_NOSIGNAL
    [[nodiscard]] int output() const { return m_output.get(); } ///< never blocks
    [[nodiscard]] int extra() const { return m_extra.get(); }   ///< never blocks; -1 when not asked for
    [[nodiscard]] int end() const { return m_end.get(); }       ///< readable once it ended; -1 on kernels before 5.3

    /// As waitpid() reports it; nullopt while it runs.
    std::optional<int> status();
    /// SIGKILL; status() follows soon.
    void kill() const;

private:
    void killAndWait();

    pid_t m_pid = -1;
    std::optional<int> m_status;
    Descriptor m_input, m_output, m_extra, m_end;
};

} // namespace advisor
