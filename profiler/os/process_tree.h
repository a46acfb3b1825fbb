#pragma once

#include "profiler/os/descriptor.h"
#include "profiler/os/private_view.h"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

/// A program and everything that it starts. A small process of ours, the keeper, is forked first and starts the program
/// as its child. As the subreaper of all descendants (prctl(2), PR_SET_CHILD_SUBREAPER) it becomes the parent of those
/// that the program leaves behind, daemons included, and it kills all of them when the tree's owner asks for it, or
/// when the owner's process ends in any way. So nothing survives a tree. The keeper gives the memory that it was forked
/// with back: what the owner frees later is free.
namespace profiler::os {

/// What is started, and how.
struct ProcessSpec {
    std::vector<std::string> words;       ///< the program, which is searched for in the PATH of `environment`, and its
                                          ///< arguments
    std::vector<std::string> environment; ///< NAME=VALUE; the whole environment
    std::filesystem::path folder;         ///< working directory; empty: the owner's
    int input = -1;                       ///< standard input; -1: it is empty
    int output = -1;                      ///< where standard output goes; -1: nowhere
    std::optional<int> errors = {};       ///< where standard error goes, -1: nowhere; none: to `output`
    /// Descriptors above 2 that the program gets under the same numbers. The owner closes its copies.
    std::vector<int> inherited = {};
    /// The program gets a pseudo-terminal as its standard streams; what it prints is copied to `output`.
    bool terminal = false;
    const PrivateView* view = nullptr; ///< entered before the program starts; none: the file system as it is
};

/// Why a program could not be started.
struct StartFailure {
    enum class Stage {
        Resources, ///< no pipe, process or terminal could be made
        View,      ///< the private view could not be entered
        Folder,    ///< the working directory could not be entered
        Program    ///< the program could not be executed
    };
    Stage stage = Stage::Resources;
    int number = 0; ///< errno
};

/// A started program with all its descendants. Not thread-safe.
class ProcessTree {
public:
    /// @param failure  why it could not be started
    static std::optional<ProcessTree> start(const ProcessSpec& spec, StartFailure& failure);
    ProcessTree(ProcessTree&& other) noexcept;
    ProcessTree& operator=(ProcessTree&& other) noexcept;
    /// As end().
    ~ProcessTree();

    /// The keeper: all processes of the tree descend from it.
    [[nodiscard]] pid_t keeper() const { return m_keeper; }
    /// The program's first process.
    [[nodiscard]] pid_t program() const { return m_program; }
    /// Readable once the program's first process has ended: for poll().
    [[nodiscard]] int descriptor() const { return m_control.get(); }
    /// How the program's first process ended, as waitpid() reports it; nullopt while it runs.
    std::optional<int> status();
    /// Kills all processes of the tree, and returns at once. status() follows soon.
    void kill();
    /// Kills all processes of the tree, and returns when they are gone and reaped. May be called again.
    void end();

private:
    ProcessTree() = default;

    pid_t m_keeper = -1, m_program = -1;
    Descriptor m_control; // a SOCK_SEQPACKET socket to the keeper
    std::optional<int> m_status;
};

} // namespace profiler::os
