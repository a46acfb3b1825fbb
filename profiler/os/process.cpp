#include "profiler/os/process.h"

#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/machine.h"
#include "profiler/os/signals.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <pthread.h>
#include <sched.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

namespace profiler::os {

namespace {

static_assert(std::is_same_v<ProcessId, pid_t>);

[[noreturn]] void fail(int failure)
{
    const int number = errno;
    static_cast<void>(!::write(failure, &number, sizeof number));
    ::_exit(127);
}

/// Turns the new process into the program. Runs between fork and exec, so it calls only async-signal-safe functions and
/// allocates no memory.
[[noreturn]] void become(const ChildSpec& spec, char* const* words, int failure, ProcessId parent)
{
    if (spec.endsWithThread) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent)
            ::_exit(1);
    }
    std::signal(SIGPIPE, SIG_DFL);
    if (spec.blocked)
        ::sigprocmask(SIG_SETMASK, &spec.blocked->before(), nullptr);
    const int nothing = spec.hasInput && spec.hasErrors ? -1 : ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if ((!spec.hasInput && ::dup2(nothing, STDIN_FILENO) < 0) ||
        (!spec.hasErrors && ::dup2(nothing, STDERR_FILENO) < 0))
        fail(failure);
    if ((spec.input >= 0 && ::dup2(spec.input, STDIN_FILENO) < 0) ||
        (spec.output >= 0 && ::dup2(spec.output, STDOUT_FILENO) < 0) ||
        (spec.errors >= 0 && ::dup2(spec.errors, STDERR_FILENO) < 0))
        fail(failure);
    for (const int descriptor : spec.inherited)
        ::fcntl(descriptor, F_SETFD, 0);
    if (!spec.leavesCore) {
        constexpr rlimit kNone{0, 0};
        ::setrlimit(RLIMIT_CORE, &kNone);
    }
    if (spec.mostDataBytes) {
        const rlimit limit{*spec.mostDataBytes, *spec.mostDataBytes};
        ::setrlimit(RLIMIT_DATA, &limit);
    }
    ::execvp(spec.program.c_str(), words);
    fail(failure);
}

std::optional<ExitStatus> reap(ProcessId& child, int flags)
{
    int status = 0;
    ProcessId ended = 0;
    while ((ended = ::waitpid(child, &status, flags)) < 0 && errno == EINTR) {
    }
    if (ended <= 0)
        return std::nullopt;
    child = ended;
    return exitStatus(status);
}

} // namespace

ProcessId processId()
{
    return ::getpid();
}

std::vector<std::string> environment()
{
    std::vector<std::string> variables;
    for (char** variable = environ; variable && *variable; ++variable)
        variables.emplace_back(*variable);
    return variables;
}

int callAtFork(void (*prepare)(), void (*parent)(), void (*child)())
{
    return ::pthread_atfork(prepare, parent, child);
}

std::chrono::nanoseconds processAge()
{
    std::ifstream file("/proc/self/stat");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    // The second field is the program's name in parentheses and may contain any characters, so fields are counted from
    // its end. The start time is the 22nd field.
    std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string field;
    for (int number = 3; number <= 22; ++number)
        fields >> field;
    std::int64_t ticks = 0;
    if (std::from_chars(field.data(), field.data() + field.size(), ticks).ec != std::errc())
        return {};
    return detail::read(CLOCK_BOOTTIME) - std::chrono::nanoseconds(ticks * (1'000'000'000 / ::sysconf(_SC_CLK_TCK)));
}

void receiveWhenParentEnds(int signal) noexcept
{
    ::prctl(PR_SET_PDEATHSIG, signal);
}

void adoptOrphans()
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool sendSignal(ProcessId process, int signal)
{
    return ::kill(process, signal) == 0;
}

ExitStatus exitStatus(int waited)
{
    ExitStatus end;
    if (WIFSIGNALED(waited))
        end.signal = WTERMSIG(waited);
    else
        end.status = WEXITSTATUS(waited);
    return end;
}

std::optional<ProcessId> startChild(const ChildSpec& spec)
{
    std::vector<char*> words;
    for (const std::string& word : spec.words)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    auto failure = makePipe();
    if (!failure)
        return std::nullopt;
    const ProcessId parent = ::getpid();
    ProcessId child = ::fork();
    if (child == 0)
        become(spec, words.data(), failure->writing.get(), parent);
    if (child < 0)
        return std::nullopt;
    failure->writing.reset();
    // If the program is executed, the pipe closes without data.
    int number = 0;
    ssize_t got = 0;
    while ((got = ::read(failure->reading.get(), &number, sizeof number)) < 0 && errno == EINTR) {
    }
    if (got != static_cast<ssize_t>(sizeof number))
        return child;
    static_cast<void>(reap(child, 0));
    errno = number;
    return std::nullopt;
}

std::optional<ExitStatus> waitForChild(ProcessId child)
{
    return reap(child, 0);
}

std::optional<ExitStatus> reapChild(ProcessId child)
{
    return reap(child, WNOHANG);
}

std::optional<std::pair<ProcessId, ExitStatus>> reapAnyChild()
{
    ProcessId child = -1;
    const auto end = reap(child, WNOHANG);
    return end ? std::optional(std::pair(child, *end)) : std::nullopt;
}

int threadId()
{
    return ::gettid();
}

void nameThread(const char* name)
{
    ::pthread_setname_np(::pthread_self(), name);
}

int allowedCores()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)); // more cores than the fixed-size set can hold
}

} // namespace profiler::os
