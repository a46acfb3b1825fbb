#include "profiler/os/process_tree.h"

#include "profiler/os/connections.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace profiler::os {

namespace {

// The keeper waits at most this long for a process that cannot be killed (because it has changed its user, or waits for
// a device that hangs).
constexpr int kMostKillSeconds = 10;
constexpr int kKillRoundMilliseconds = 10;
constexpr unsigned short kTerminalRows = 40, kTerminalColumns = 120;

/// A message from the keeper to the owner.
struct Report {
    enum Kind : int { Started, Failed, Ended };
    int kind = Started;
    int value = 0;  // pid; stage; status as returned by waitpid
    int number = 0; // errno
};

/// Everything that the keeper and the program need. It is prepared before the fork: afterwards, memory must not be
/// allocated, because other threads of the parent process may have held the allocator's locks.
struct Plan {
    Descriptor control, failure, input, output, errors, silence, master, slave;
    std::vector<int> inherited;
    std::vector<int> kept; // descriptors that the keeper keeps open, sorted
    std::vector<char*> words, environment;
    const char* folder = nullptr;
    const PrivateView* view = nullptr;
    sigset_t childEnds{};
};

[[noreturn]] void fail(const Plan& plan, StartFailure::Stage stage, int number)
{
    const StartFailure failure{stage, number};
    static_cast<void>(!::write(plan.failure.get(), &failure, sizeof failure));
    ::_exit(127);
}

/// Turns the keeper's child into the program.
[[noreturn]] void become(const Plan& plan, pid_t keeper)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // if the keeper is killed, the program is killed too
    if (::getppid() != keeper)
        ::_exit(127);
    for (int signal = 1; signal < NSIG; ++signal)
        ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::setsid();
    if (plan.slave)
        ::ioctl(plan.slave.get(), TIOCSCTTY, 0);
    const int terminal = plan.slave.get();
    if (::dup2(plan.slave ? terminal : plan.input.get(), 0) != 0 ||
        ::dup2(plan.slave ? terminal : plan.output.get(), 1) != 1 ||
        ::dup2(plan.slave ? terminal : plan.errors.get(), 2) != 2)
        fail(plan, StartFailure::Stage::Resources, errno);
    for (const int descriptor : plan.inherited)
        ::fcntl(descriptor, F_SETFD, 0);
    if (plan.view)
        if (const int number = plan.view->enter())
            fail(plan, StartFailure::Stage::View, number);
    // After the mounts: otherwise, the working directory would be the one underneath them.
    if (*plan.folder && ::chdir(plan.folder) != 0)
        fail(plan, StartFailure::Stage::Folder, errno);
    environ = const_cast<char**>(plan.environment.data());
    ::execvp(plan.words.front(), plan.words.data());
    fail(plan, StartFailure::Stage::Program, errno);
}

/// Sends SIGKILL to the children of this process, which include all orphans of the tree.
void killChildren()
{
    const pid_t self = ::getpid();
    const int folder = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    alignas(8) std::array<char, 8192> entries; // NOLINT: filled by the kernel
    for (;;) {
        const long bytes = ::syscall(SYS_getdents64, folder, entries.data(), entries.size());
        if (bytes <= 0)
            break;
        for (long at = 0; at < bytes;) {
            // struct linux_dirent64: inode and offset (8 bytes each), length (2), type (1), name; see getdents64(2).
            unsigned short length = 0;
            std::memcpy(&length, entries.data() + at + 16, sizeof length);
            const char* name = entries.data() + at + 19;
            at += length;
            if (*name < '1' || *name > '9')
                continue;
            std::array<char, 64> path{};
            std::strncpy(path.data(), name, 32);
            std::strncat(path.data(), "/stat", 8);
            const int file = ::openat(folder, path.data(), O_RDONLY | O_CLOEXEC);
            if (file < 0)
                continue;
            std::array<char, 512> text{};
            const ssize_t got = ::read(file, text.data(), text.size() - 1);
            ::close(file);
            // "pid (name) state parent …"; the name may contain any characters.
            const char* end = got > 0 ? static_cast<const char*>(::memrchr(text.data(), ')', got)) : nullptr;
            if (end && ::atoi(end + 4) == self)
                ::kill(::atoi(name), SIGKILL);
        }
    }
    ::close(folder);
}

/// Kills and reaps children until none is left.
[[noreturn]] void endAll()
{
    timespec begin{}, now{};
    ::clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        killChildren();
        pid_t reaped = 0;
        while ((reaped = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
        }
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        if ((reaped < 0 && errno == ECHILD) || now.tv_sec - begin.tv_sec > kMostKillSeconds)
            ::_exit(0);
        ::poll(nullptr, 0, kKillRoundMilliseconds);
    }
}

void send(int control, const Report& report)
{
    static_cast<void>(::send(control, &report, sizeof report, MSG_NOSIGNAL));
}

/// Copies what the program printed on its terminal. Returns false if the terminal is closed.
bool copyOutput(int master, int output)
{
    std::array<char, 4096> text; // NOLINT: filled by read
    const ssize_t got = ::read(master, text.data(), text.size());
    if (got <= 0)
        return got < 0 && (errno == EINTR || errno == EAGAIN);
    for (ssize_t done = 0; done < got;) {
        const ssize_t written = ::write(output, text.data() + done, static_cast<std::size_t>(got - done));
        if (written < 0 && errno != EINTR)
            break; // the disk is full: the program continues
        done += std::max<ssize_t>(written, 0);
    }
    return true;
}

/// @return whether the terminal is still open
bool copyAllOutput(const Plan& plan)
{
    for (pollfd master{plan.master.get(), POLLIN, 0}; ::poll(&master, 1, 0) > 0;)
        if (!copyOutput(plan.master.get(), plan.output.get()))
            return false;
    return true;
}

/// Closes all descriptors that the keeper does not need, in particular the control sockets of other trees, whose
/// keepers wait until the last copy is closed.
void closeOthers(const Plan& plan)
{
    unsigned from = 3;
    for (const int descriptor : plan.kept) {
        if (descriptor < 3)
            continue;
        if (const auto number = static_cast<unsigned>(descriptor); number >= from) {
            if (number > from)
                ::syscall(SYS_close_range, from, number - 1, 0U);
            from = number + 1;
        }
    }
    ::syscall(SYS_close_range, from, ~0U, 0U);
    for (const int standard : {0, 1, 2})
        ::dup2(plan.silence.get(), standard);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// Memory kept around the top of the stack and around the thread-local variables.
constexpr std::uintptr_t kAroundBytes = std::uintptr_t{1} << 20;

void discard(std::uintptr_t begin, std::uintptr_t end)
{
    if (begin < end)
        ::madvise(reinterpret_cast<void*>(begin), end - begin,
                  MADV_DONTNEED); // NOLINT: an address of the kernel's list
}

/// Releases a range of memory inherited from the owner, except around `here` and `there`.
void discardWithout(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t here, std::uintptr_t there)
{
    const auto [first, second] = std::minmax(here, there);
    for (const std::uintptr_t place : {first, second}) {
        if (place + kAroundBytes <= begin || place >= end + kAroundBytes)
            continue;
        discard(begin, std::min(end, (place - kAroundBytes) & ~std::uintptr_t{0xFFFF}));
        begin = std::max(begin, (place + kAroundBytes) & ~std::uintptr_t{0xFFFF});
    }
    discard(begin, end);
}

/// Releases the memory that the fork has copied. Its pages are shared with the owner until one of the two writes to
/// them: otherwise, gigabytes of a trace that the owner closes would stay in memory as long as the program runs. Only
/// anonymous memory in blocks as large as allocations is released; the data of libraries stays.
void giveBackMemory()
{
    constexpr std::uintptr_t kLeastBytes = std::uintptr_t{1} << 20;
    const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    std::array<char, 4096> text{};
    std::size_t filled = 0;
    for (ssize_t got = 0; (got = ::read(file, text.data() + filled, text.size() - 1 - filled)) > 0;) {
        filled += static_cast<std::size_t>(got);
        text[filled] = 0;
        char* line = text.data();
        for (char* end = nullptr; (end = std::strchr(line, '\n')) != nullptr; line = end + 1) {
            *end = 0;
            // "begin-end rw-p offset device inode   name"; see proc(5).
            char* rest = nullptr;
            const std::uintptr_t begin = std::strtoull(line, &rest, 16);
            const std::uintptr_t stop = *rest == '-' ? std::strtoull(rest + 1, &rest, 16) : 0;
            const bool isAnonymous = std::strncmp(rest, " rw-p ", 6) == 0 && std::strstr(rest, " 00:00 0") != nullptr &&
                                     std::strchr(rest, '/') == nullptr && std::strstr(rest, "[stack]") == nullptr;
            if (isAnonymous && stop - begin >= kLeastBytes)
                discardWithout(begin, stop, stack, thread);
        }
        filled = static_cast<std::size_t>(text.data() + filled - line);
        std::memmove(text.data(), line, filled);
    }
    ::close(file);
}

#else
// The sanitizer's own memory is anonymous as well.
void giveBackMemory() {}
#endif

[[noreturn]] void keep(Plan& plan)
{
    closeOthers(plan);
    ::setsid(); // Ctrl+C in a terminal is meant for the tree's owner
    ::prctl(PR_SET_NAME, "stepscope-keep");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE})
        ::signal(signal, SIG_IGN);
    ::signal(SIGCHLD, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &plan.childEnds, nullptr);
    const int ends = ::signalfd(-1, &plan.childEnds, SFD_CLOEXEC | SFD_NONBLOCK);
    const pid_t keeper = ::getpid();
    const pid_t program = ends < 0 ? -1 : ::fork();
    if (program == 0)
        become(plan, keeper);
    if (program < 0)
        fail(plan, StartFailure::Stage::Resources, errno);
    // Close the program's descriptors here, so that they are closed when the program ends.
    for (Descriptor* const descriptor : {&plan.failure, &plan.slave, &plan.input, &plan.errors})
        descriptor->reset();
    if (!plan.master)
        plan.output.reset();
    for (const int descriptor : plan.inherited)
        ::close(descriptor);
    send(plan.control.get(), {Report::Started, program, 0});
    giveBackMemory();
    bool isKilling = false;
    for (bool isTerminalOpen = static_cast<bool>(plan.master);;) {
        std::array<pollfd, 3> watched = {pollfd{plan.control.get(), POLLIN, 0}, pollfd{ends, POLLIN, 0},
                                         pollfd{isTerminalOpen ? plan.master.get() : -1, POLLIN, 0}};
        if (::poll(watched.data(), watched.size(), -1) < 0)
            continue;
        if (watched[2].revents != 0)
            isTerminalOpen = copyAllOutput(plan);
        if (watched[1].revents != 0) {
            signalfd_siginfo ignored{};
            while (::read(ends, &ignored, sizeof ignored) > 0) {
            }
            int status = 0;
            for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
                if (ended != program)
                    continue;
                isTerminalOpen = isTerminalOpen && copyAllOutput(plan); // report its last output before its end
                send(plan.control.get(), {Report::Ended, status, 0});
            }
            if (isKilling)
                killChildren(); // children of killed processes are now children of the keeper
        }
        if (watched[0].revents != 0) {
            char asked = 0;
            if (::recv(plan.control.get(), &asked, sizeof asked, MSG_DONTWAIT) <= 0)
                endAll(); // the owner has closed its end, or has ended
            isKilling = true;
            killChildren();
        }
    }
}

/// Connects the owner with its keeper. All descriptors of a plan are above 2, because the keeper uses 0, 1 and 2 for
/// /dev/null.
bool makeControl(Descriptor& owner, Descriptor& keeper)
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return false;
    owner = aboveStandardStreams(ends[0]);
    keeper = aboveStandardStreams(ends[1]);
    return owner && keeper;
}

bool makeFailurePipe(Descriptor& reading, Descriptor& writing)
{
    auto pipe = makePipe();
    if (!pipe)
        return false;
    reading = std::move(pipe->reading);
    writing = std::move(pipe->writing);
    return true;
}

bool makeTerminal(Plan& plan)
{
    plan.master = aboveStandardStreams(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    std::array<char, 64> name{};
    if (!plan.master || ::grantpt(plan.master.get()) != 0 || ::unlockpt(plan.master.get()) != 0 ||
        ::ptsname_r(plan.master.get(), name.data(), name.size()) != 0)
        return false;
    plan.slave = aboveStandardStreams(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    const winsize size{kTerminalRows, kTerminalColumns, 0, 0};
    return plan.slave && ::ioctl(plan.slave.get(), TIOCSWINSZ, &size) == 0;
}

std::vector<char*> pointers(const std::vector<std::string>& texts)
{
    std::vector<char*> result;
    for (const std::string& text : texts)
        result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

/// Copies a descriptor of the owner; for -1, copies `other` instead.
bool copy(Descriptor& to, int descriptor, const Descriptor& other)
{
    to = Descriptor(::fcntl(descriptor < 0 ? other.get() : descriptor, F_DUPFD_CLOEXEC, 3));
    return static_cast<bool>(to);
}

template <class Record>
bool readWhole(int descriptor, Record& record)
{
    ssize_t got = 0;
    while ((got = ::read(descriptor, &record, sizeof record)) < 0 && errno == EINTR) {
    }
    return got == static_cast<ssize_t>(sizeof record);
}

} // namespace

std::optional<ProcessTree> ProcessTree::start(const ProcessSpec& spec, StartFailure& failure)
{
    Plan plan;
    ProcessTree tree;
    Descriptor failures;
    const std::string folder = spec.folder.string();
    plan.words = pointers(spec.words);
    plan.environment = pointers(spec.environment);
    plan.folder = folder.c_str();
    plan.view = spec.view;
    sigemptyset(&plan.childEnds);
    sigaddset(&plan.childEnds, SIGCHLD);
    failure = {};
    const bool isReady = makeControl(tree.m_control, plan.control) && makeFailurePipe(failures, plan.failure) &&
                         (plan.silence = aboveStandardStreams(::open("/dev/null", O_RDWR | O_CLOEXEC))) &&
                         copy(plan.input, spec.input, plan.silence) && copy(plan.output, spec.output, plan.silence) &&
                         copy(plan.errors, spec.errors.value_or(spec.output), plan.silence) &&
                         (!spec.terminal || makeTerminal(plan));
    if (!isReady) {
        failure.number = errno;
        return std::nullopt;
    }
    plan.inherited = spec.inherited;
    plan.kept = spec.inherited;
    for (const Descriptor* const descriptor : {&plan.control, &plan.failure, &plan.input, &plan.output, &plan.errors,
                                               &plan.silence, &plan.master, &plan.slave})
        plan.kept.push_back(descriptor->get());
    std::sort(plan.kept.begin(), plan.kept.end());
    tree.m_keeper = ::fork();
    if (tree.m_keeper == 0)
        keep(plan);
    if (tree.m_keeper < 0) {
        failure.number = errno;
        return std::nullopt;
    }
    plan = {};
    // If the program is executed, the pipe closes without data.
    if (readWhole(failures.get(), failure)) {
        tree.end();
        return std::nullopt;
    }
    Report report;
    if (!readWhole(tree.m_control.get(), report) || report.kind != Report::Started) {
        failure.number = ECHILD; // the keeper was killed
        tree.end();
        return std::nullopt;
    }
    tree.m_program = report.value;
    return tree;
}

ProcessTree::ProcessTree(ProcessTree&& other) noexcept
{
    *this = std::move(other);
}

ProcessTree& ProcessTree::operator=(ProcessTree&& other) noexcept
{
    if (this != &other) {
        end();
        m_keeper = std::exchange(other.m_keeper, -1);
        m_program = std::exchange(other.m_program, -1);
        m_control = std::move(other.m_control);
        m_status = std::exchange(other.m_status, {});
    }
    return *this;
}

ProcessTree::~ProcessTree()
{
    end();
}

std::optional<int> ProcessTree::status()
{
    if (m_status || !m_control)
        return m_status;
    Report report;
    const ssize_t got = ::recv(m_control.get(), &report, sizeof report, MSG_DONTWAIT);
    if (got == static_cast<ssize_t>(sizeof report) && report.kind == Report::Ended)
        m_status = report.value;
    else if (got == 0) // the keeper was killed, and the program with it
        m_status = SIGKILL;
    return m_status;
}

void ProcessTree::kill()
{
    const char asked = 1;
    if (m_control)
        static_cast<void>(::send(m_control.get(), &asked, sizeof asked, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void ProcessTree::end()
{
    if (m_keeper <= 0)
        return;
    static_cast<void>(status());
    m_control.reset();
    while (::waitpid(m_keeper, nullptr, 0) < 0 && errno == EINTR) {
    }
    m_keeper = -1;
    if (!m_status)
        m_status = SIGKILL;
}

} // namespace profiler::os
