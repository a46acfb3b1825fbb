#pragma once

#include "profiler/os/files.h"
#include "profiler/os/private_view.h"
#include "profiler/os/process.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A program and all processes that it starts. A small process of ours, the keeper, is forked first and starts the
/// program as its child. As the subreaper of all descendants (prctl(2), PR_SET_CHILD_SUBREAPER), it becomes the parent
/// of those that the program leaves behind, including daemons. It kills all of them when the tree's owner asks for it,
/// or when the owner's process ends for any reason, so no process outlives its tree. The keeper releases the memory
/// that it inherited in the fork: memory that the owner frees later becomes free.
namespace profiler::os {

/// What to start, and how.
struct ProcessSpec {
    std::vector<std::string> words;       ///< the program, which is searched for in the PATH of `environment`, and its
                                          ///< arguments
    std::vector<std::string> environment; ///< the whole environment, as NAME=VALUE
    std::filesystem::path folder;         ///< working directory; if empty, the owner's
    int input = -1;                       ///< standard input; -1 for an empty one
    int output = -1;                      ///< destination of standard output; -1 discards it
    std::optional<int> errors = {};       ///< destination of standard error, -1 discards it; nullopt for the same as
                                          ///< `output`
    /// Descriptors above 2 that the program inherits under the same numbers. The owner closes its copies.
    std::vector<int> inherited = {};
    /// The program gets a pseudo-terminal for its standard streams; what it prints is copied to `output`.
    bool terminal = false;
    const PrivateView* view = nullptr; ///< entered before the program starts; nullptr for the unchanged file system
};

/// Why a program could not be started.
struct StartFailure {
    enum class Stage {
        Resources, ///< no pipe, process or terminal could be created
        View,      ///< the private view could not be entered
        Folder,    ///< the working directory could not be entered
        Program    ///< the program could not be executed
    };
    Stage stage = Stage::Resources;
    int number = 0; ///< errno
};

/// A running program with all its descendants. Not thread-safe.
class ProcessTree {
public:
    /// @param failure  receives the reason if the program could not be started
    static std::optional<ProcessTree> start(const ProcessSpec& spec, StartFailure& failure);
    ProcessTree(ProcessTree&& other) noexcept;
    ProcessTree& operator=(ProcessTree&& other) noexcept;
    /// Calls end().
    ~ProcessTree();

    /// Process id of the keeper, from which all processes of the tree descend.
    [[nodiscard]] ProcessId keeper() const { return m_keeper; }
    /// Process id of the program's first process.
    [[nodiscard]] ProcessId program() const { return m_program; }
    /// Becomes readable when the program's first process has ended; for poll().
    [[nodiscard]] int descriptor() const { return m_control.get(); }
    /// How the program's first process ended, as reported by waitpid(), see exitStatus(); nullopt while it is running.
    std::optional<int> status();
    /// Kills all processes of the tree and returns at once. status() changes soon afterwards.
    void kill();
    /// Kills all processes of the tree and waits until they have been reaped. May be called more than once.
    void end();

private:
    ProcessTree() = default;

    ProcessId m_keeper = -1, m_program = -1;
    Descriptor m_control; // SOCK_SEQPACKET socket connected to the keeper
    std::optional<int> m_status;
};

} // namespace profiler::os
