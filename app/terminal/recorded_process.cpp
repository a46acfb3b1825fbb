#include "app/terminal/recorded_process.h"

#include "profiler/os/file_lock.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace advisor::cli {

using profiler::Error;
using profiler::Result;

namespace {

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

sigset_t watchedSignals()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : kForwarded)
        sigaddset(&set, signal);
    sigaddset(&set, SIGCHLD);
    return set;
}

/// Runs in the child between fork and exec: only async-signal-safe functions are allowed.
[[noreturn]] void become(char* const* arguments, const sigset_t& mask, int errors)
{
    signal(SIGPIPE, SIG_DFL); // this process ignores it, and the command would inherit that
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    execvp(arguments[0], arguments);
    const int number = errno;
    static_cast<void>(!write(errors, &number, sizeof number));
    _exit(127);
}

Error cannotStart(int number, const std::string& program)
{
    if (number == ENOENT)
        return profiler::makeError<"launch.command.not_found", "command not found">(
            Error::Code::NotFound, program, "check its name, or specify its path");
    if (number == EACCES)
        return profiler::makeError<"record.command.permission", "the command may not be executed">(
            Error::Code::Permission, program,
            "make it executable (chmod +x), or start it with an interpreter: python " + program);
    return profiler::makeError<"record.command.failed", "the command cannot be started: {why}">(
        Error::Code::Unavailable, program,
        number == ENOEXEC ? "it is not an executable program; start it with an interpreter" : "",
        {{"why", std::generic_category().message(number)}});
}

/// "timeout (4711)"; the name is unknown if the process has already exited.
std::string senderOf(const siginfo_t& info)
{
    if (info.si_code != SI_USER && info.si_code != SI_QUEUE && info.si_code != SI_TKILL)
        return {};
    if (info.si_pid <= 0) // in another pid namespace
        return {};
    std::string name;
    std::ifstream file("/proc/" + std::to_string(info.si_pid) + "/comm");
    std::getline(file, name);
    return (name.empty() ? "process " + std::to_string(info.si_pid) : name + " (" + std::to_string(info.si_pid) + ")");
}

bool asksForAnEnd(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

void note(CommandEnd& end, const siginfo_t& info)
{
    if (end.received != 0 || !asksForAnEnd(info.si_signo))
        return;
    end.received = info.si_signo;
    end.fromTerminal = info.si_code == SI_KERNEL;
    end.sender = senderOf(info);
}

void setStatus(CommandEnd& end, int status)
{
    if (WIFSIGNALED(status))
        end.signal = WTERMSIG(status);
    else
        end.status = WEXITSTATUS(status);
}

/// Waits for the command and passes signals on.
CommandEnd follow(pid_t command, const sigset_t& watched)
{
    CommandEnd end;
    end.pid = command;
    for (;;) {
        siginfo_t info{};
        const int signal = sigwaitinfo(&watched, &info);
        if (signal > 0)
            note(end, info);
        int status = 0;
        for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (ended != command)
                continue;
            setStatus(end, status);
            // A signal to the whole process group may have ended the command before it was seen here.
            constexpr timespec kNow{};
            while (sigtimedwait(&watched, &info, &kNow) > 0)
                note(end, info);
            return end;
        }
        // A terminal also sends its own signals (Ctrl-C) to the command.
        if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL)
            kill(command, signal);
    }
}

} // namespace

profiler::RecordingEnd CommandEnd::recordingEnd() const
{
    return {.recorderSignal = received,
            .terminal = fromTerminal,
            .sender = sender,
            .programSignal = signal,
            .programStatus = status};
}

std::string CommandEnd::text() const
{
    if (signal == 0)
        return "exited with status " + std::to_string(status);
    return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

Result<CommandEnd> runCommand(const std::vector<std::string>& command,
                              const std::vector<std::pair<std::string, std::string>>& variables,
                              const std::function<void(pid_t)>& started)
{
    for (const auto& [name, value] : variables)
        setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : command)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return tl::unexpected(cannotStart(errno, command.front()));
    prctl(PR_SET_CHILD_SUBREAPER, 1); // processes that the command left behind are waited for separately
    const sigset_t watched = watchedSignals();
    sigset_t before;
    sigprocmask(SIG_BLOCK, &watched, &before);
    const pid_t child = fork();
    if (child == 0)
        become(arguments.data(), before, ends[1]);
    const int forkError = errno;
    close(ends[1]);
    int number = 0;
    const bool failed = child > 0 && read(ends[0], &number, sizeof number) == sizeof number;
    close(ends[0]);
    if (child < 0 || failed) {
        if (child > 0)
            waitpid(child, nullptr, 0);
        sigprocmask(SIG_SETMASK, &before, nullptr);
        return tl::unexpected(cannotStart(child < 0 ? forkError : number, command.front()));
    }
    started(child);
    CommandEnd end = follow(child, watched);
    sigset_t after = before;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&after, signal);
    sigprocmask(SIG_SETMASK, &after, nullptr);
    return end;
}

std::vector<std::filesystem::path> waitForWriters(std::vector<std::filesystem::path> files,
                                                  std::chrono::milliseconds atMost)
{
    constexpr std::chrono::milliseconds kEvery{20};
    const auto until = std::chrono::steady_clock::now() + atMost;
    for (;;) {
        while (waitpid(-1, nullptr, WNOHANG) > 0)
            continue;
        std::erase_if(files, [](const std::filesystem::path& file) {
            return profiler::os::lockHolder(file) != profiler::os::LockHolder::Somebody;
        });
        if (files.empty() || std::chrono::steady_clock::now() >= until)
            return files;
        std::this_thread::sleep_for(kEvery);
    }
}

} // namespace advisor::cli
