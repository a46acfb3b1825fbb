#include "app/terminal/recorded_process.h"

#include "profiler/os/file_lock.h"
#include "profiler/os/signals.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>

namespace app::terminal {

using namespace advisor;

namespace os = profiler::os;
using profiler::Error;
using profiler::Result;

namespace {

/// The signals that are passed on, and the end of a child.
constexpr std::array kWatched = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};

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
std::string senderOf(const os::ReceivedSignal& signal)
{
    if (signal.sender <= 0)
        return {};
    const std::string process = std::to_string(signal.sender);
    std::string name;
    std::ifstream file("/proc/" + process + "/comm");
    std::getline(file, name);
    return name.empty() ? "process " + process : name + " (" + process + ")";
}

bool asksForAnEnd(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

void note(CommandEnd& end, const os::ReceivedSignal& signal)
{
    if (end.received != 0 || !asksForAnEnd(signal.number))
        return;
    end.received = signal.number;
    end.fromTerminal = signal.isFromKernel;
    end.sender = senderOf(signal);
}

/// Waits for the command and passes signals on.
CommandEnd follow(os::ProcessId command, const os::BlockedSignals& watched)
{
    CommandEnd end;
    end.pid = command;
    for (;;) {
        const auto signal = watched.wait();
        if (signal)
            note(end, *signal);
        while (const auto ended = os::reapAnyChild()) {
            if (ended->first != command)
                continue;
            end.status = ended->second.status;
            end.signal = ended->second.signal;
            // A signal to the whole process group may have ended the command before it was seen here.
            while (const auto other = watched.take())
                note(end, *other);
            return end;
        }
        // A terminal also sends its own signals (Ctrl-C) to the command.
        if (signal && signal->number != SIGCHLD && !signal->isFromKernel)
            os::sendSignal(command, signal->number);
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
                              const std::function<void(os::ProcessId)>& started)
{
    for (const auto& [name, value] : variables)
        setenv(name.c_str(), value.c_str(), 1);
    os::adoptOrphans(); // processes that the command left behind are waited for separately
    os::BlockedSignals watched(kWatched);
    const auto child = os::startChild({.program = command.front(), .words = command, .blocked = &watched});
    if (!child)
        return tl::unexpected(cannotStart(errno, command.front()));
    started(*child);
    const CommandEnd end = follow(*child, watched);
    watched.keepBlocked(std::array{SIGINT, SIGTERM, SIGHUP});
    return end;
}

std::vector<std::filesystem::path> waitForWriters(std::vector<std::filesystem::path> files,
                                                  std::chrono::milliseconds atMost)
{
    constexpr std::chrono::milliseconds kEvery{20};
    const auto until = std::chrono::steady_clock::now() + atMost;
    for (;;) {
        while (os::reapAnyChild())
            continue;
        std::erase_if(
            files, [](const std::filesystem::path& file) { return os::lockHolder(file) != os::LockHolder::Somebody; });
        if (files.empty() || std::chrono::steady_clock::now() >= until)
            return files;
        std::this_thread::sleep_for(kEvery);
    }
}

} // namespace app::terminal
