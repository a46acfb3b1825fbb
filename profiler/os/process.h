#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// This process, its threads and its children: starting a program, waiting for it, and how it ended. A program whose
/// descendants must end with it is a ProcessTree instead (process_tree.h).
namespace profiler::os {

class BlockedSignals;

using ProcessId = int; ///< the kernel's pid_t

ProcessId processId();
/// The environment, as NAME=VALUE.
std::vector<std::string> environment();
/// Functions that fork() calls: `prepare` and `parent` in this process, before and after it, `child` in the new one.
/// nullptr for none. They may not be called after this library or program is unloaded.
/// @return 0, or errno
int callAtFork(void (*prepare)(), void (*parent)(), void (*child)());
/// How long this process has existed, with the kernel's resolution of 10 ms. 0 if the kernel does not say.
std::chrono::nanoseconds processAge();
/// The kernel sends this process a signal when the thread that started it ends. May be called in a child before exec.
void receiveWhenParentEnds(int signal) noexcept;
/// Processes whose parents end become children of this one, until it ends.
void adoptOrphans();
/// @param signal  0 only checks that the process exists
/// @return whether the signal was sent
bool sendSignal(ProcessId process, int signal);

/// How a process ended.
struct ExitStatus {
    int status = 0; ///< exit status, if no signal ended it
    int signal = 0; ///< signal that ended it; 0: it exited
    [[nodiscard]] bool isSuccess() const { return signal == 0 && status == 0; }
    /// The shell's $?.
    [[nodiscard]] int shellStatus() const { return signal != 0 ? 128 + signal : status; }
};
/// @param waited  a status as reported by waitpid() and ProcessTree::status()
ExitStatus exitStatus(int waited);

/// A program to start as a child of this process. Its standard streams and its working directory are those of this
/// process, its environment is the current one, and SIGPIPE has its default effect.
struct ChildSpec {
    std::string program;            ///< a path, or a name that is searched for in PATH
    std::vector<std::string> words; ///< its name and its arguments
    bool hasInput = true;           ///< otherwise, standard input is empty
    bool hasErrors = true;          ///< otherwise, standard error is discarded
    /// Descriptors that replace the standard streams; −1: that of this process. The caller closes its copies.
    int input = -1, output = -1, errors = -1;
    std::vector<int> inherited = {}; ///< descriptors above 2 that it inherits under the same numbers
    bool endsWithThread = false;     ///< the kernel kills it when the calling thread ends, for whatever reason
    bool leavesCore = true;          ///< otherwise, a crash writes no core file
    std::optional<std::uint64_t> mostDataBytes = {}; ///< limit of its private memory (RLIMIT_DATA)
    const BlockedSignals* blocked = nullptr;         ///< signals that are blocked in this process, but not in the child
};
/// Starts a program. The caller must wait for it.
/// @return nullopt, with errno set, if no process could be created or the program could not be executed
std::optional<ProcessId> startChild(const ChildSpec& spec);
/// Waits until a child has ended. nullopt if there is no such child.
std::optional<ExitStatus> waitForChild(ProcessId child);
/// How a child has ended; nullopt while it runs. Call it until it returns the status: then the child is gone.
std::optional<ExitStatus> reapChild(ProcessId child);
/// Any child that has ended, also one of adoptOrphans(). nullopt if none has.
std::optional<std::pair<ProcessId, ExitStatus>> reapAnyChild();

/// The kernel's id of the calling thread; equals processId() in the main thread.
int threadId();
/// The name that debuggers and other tools show for the calling thread.
/// @param name  at most 15 bytes
void nameThread(const char* name);
/// Number of cores on which the calling thread may run.
int allowedCores();

} // namespace profiler::os
