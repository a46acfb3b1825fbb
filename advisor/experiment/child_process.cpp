#include "advisor/experiment/child_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace advisor {

using profiler::Error;
using profiler::Result;

namespace {

/// The child's ends; everything that it needs is prepared before the fork, after which nothing may be allocated.
struct ChildEnds {
    Descriptor input, output, extra, file, failure, silence;
    std::vector<std::string> words;
    std::vector<char*> arguments;
    bool joinErrors = true;
    pid_t parent = 0;
};

/// @tparam Text  ends with the reason: "No pipe could be made: {why}"
template <profiler::detail::Literal Id, profiler::detail::Literal Text>
Error systemError()
{
    const auto code = errno == ENOENT   ? Error::Code::NotFound
                      : errno == EACCES ? Error::Code::Permission
                                        : Error::Code::Unavailable;
    return profiler::makeError<Id, Text>(code, {}, {}, {{"why", std::strerror(errno)}});
}

// The child puts its standard streams on 0, 1 and 2: nothing else may lie there.
bool adopt(Descriptor& place, int descriptor)
{
    if (descriptor >= 0 && descriptor <= 2) {
        const int higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
        ::close(descriptor);
        descriptor = higher;
    }
    place = Descriptor(descriptor);
    return static_cast<bool>(place);
}

bool makePipe(Descriptor& reading, Descriptor& writing)
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return false;
    const bool first = adopt(reading, ends[0]);
    return adopt(writing, ends[1]) && first;
}

bool makeInput(Descriptor& ours, Descriptor& theirs)
{
    // A socket, because writing to a pipe that nobody reads raises SIGPIPE for the whole process.
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return false;
    const bool first = adopt(ours, ends[0]);
    return adopt(theirs, ends[1]) && first;
}

// In memory: nothing is left behind, however either program ends.
bool makeFile(Descriptor& place, const std::string& text)
{
    if (!adopt(place, ::memfd_create("stepscope", MFD_CLOEXEC)))
        return false;
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = ::write(place.get(), text.data() + done, text.size() - done);
        if (written < 0 && errno != EINTR)
            return false;
        done += written > 0 ? static_cast<std::size_t>(written) : 0;
    }
    return true;
}

void neverBlock(int descriptor)
{
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

void prepareArguments(const ChildCommand& command, ChildEnds& child)
{
    child.words = {command.program.string()};
    child.words.insert(child.words.end(), command.arguments.begin(), command.arguments.end());
    if (child.file)
        child.words.insert(child.words.end(), {command.fileOption, fmt::format("/dev/fd/{}", child.file.get())});
    if (child.extra)
        child.words.insert(child.words.end(), {command.extraOption, std::to_string(child.extra.get())});
    for (std::string& word : child.words)
        child.arguments.push_back(word.data());
    child.arguments.push_back(nullptr);
}

void inherit(const Descriptor& descriptor)
{
    if (descriptor)
        ::fcntl(descriptor.get(), F_SETFD, 0);
}

/// In the child, of a process with threads: async-signal-safe calls only.
[[noreturn]] void become(const ChildEnds& child)
{
    // Our starter's descriptors are nobody else's business, other trainers' pipes least of all. On kernels before 5.11
    // this fails, and what was not opened with O_CLOEXEC by others is inherited.
    ::syscall(SYS_close_range, 3U, ~0U, static_cast<unsigned>(CLOSE_RANGE_CLOEXEC));
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A group of its own: Ctrl-C in a terminal is for whoever started it, who stops the trainer in order.
    ::setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    const int errors = child.joinErrors ? child.output.get() : child.silence.get();
    const bool placed =
        ::dup2(child.input.get(), 0) == 0 && ::dup2(child.output.get(), 1) == 1 && ::dup2(errors, 2) == 2;
    inherit(child.extra);
    inherit(child.file);
    // The starter may have died before the kernel was told to end us with it.
    if (placed && ::getppid() == child.parent)
        ::execv(child.arguments.front(), child.arguments.data());
    const int why = errno;
    [[maybe_unused]] const auto written = ::write(child.failure.get(), &why, sizeof(why));
    ::_exit(127);
}

} // namespace

Result<ChildProcess> ChildProcess::start(const ChildCommand& command)
{
    ChildProcess process;
    ChildEnds child;
    Descriptor failure;
    child.joinErrors = command.joinErrors;
    child.parent = ::getpid();
    const bool ready = makeInput(process.m_input, child.input) && makePipe(process.m_output, child.output) &&
                       makePipe(failure, child.failure) &&
                       (command.extraOption.empty() || makePipe(process.m_extra, child.extra)) &&
                       (command.fileOption.empty() || makeFile(child.file, command.file)) &&
                       adopt(child.silence, ::open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (!ready)
        return tl::unexpected(systemError<"process.no_pipe", "No pipe could be made: {why}">());
    prepareArguments(command, child);
    process.m_pid = ::fork();
    if (process.m_pid == 0)
        become(child);
    if (process.m_pid < 0)
        return tl::unexpected(systemError<"process.no_process", "No process could be started: {why}">());
    child = {};
    // At its exec the child closes this pipe without a word.
    int why = 0;
    ssize_t got = 0;
    while ((got = ::read(failure.get(), &why, sizeof(why))) < 0 && errno == EINTR) {
    }
    if (got == static_cast<ssize_t>(sizeof(why))) {
        errno = why;
        auto error = systemError<"process.not_started", "The program cannot be started: {why}">();
        error.where = command.program.string();
        return tl::unexpected(std::move(error));
    }
    process.m_end = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process.m_pid, 0U)));
    neverBlock(process.m_output.get());
    if (process.m_extra)
        neverBlock(process.m_extra.get());
    return process;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
{
    *this = std::move(other);
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept
{
    if (this == &other)
        return *this;
    killAndWait();
    m_pid = std::exchange(other.m_pid, -1);
    m_status = std::exchange(other.m_status, {});
    m_input = std::move(other.m_input);
    m_output = std::move(other.m_output);
    m_extra = std::move(other.m_extra);
    m_end = std::move(other.m_end);
    return *this;
}

ChildProcess::~ChildProcess()
{
    killAndWait();
}

void ChildProcess::killAndWait()
{
    if (m_pid <= 0 || status())
        return;
    kill();
    int status = 0;
    while (::waitpid(m_pid, &status, 0) < 0 && errno == EINTR) {
    }
    m_status = status;
}

std::optional<int> ChildProcess::status()
{
    int status = 0;
    // Somebody who reaps all children (or ignores SIGCHLD) may have been first: then it ended, and how is lost.
    if (m_pid > 0 && !m_status) {
        const pid_t ended = ::waitpid(m_pid, &status, WNOHANG);
        if (ended == m_pid || (ended < 0 && errno == ECHILD))
            m_status = status;
    }
    return m_status;
}

void ChildProcess::kill() const
{
    // Once it was waited for, its number may be another's.
    if (m_pid > 0 && !m_status)
        ::kill(m_pid, SIGKILL);
}

} // namespace advisor
