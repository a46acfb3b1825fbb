#include "trainer/parallel/local_ranks.h"

#include "profiler/model/failure.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace trainer {

namespace fs = std::filesystem;
using profiler::Error;

namespace {

constexpr int kPoll = 50; // ms between two checks of the child processes

// Finds a free port. Another process may take it before rank 0 listens: then joining fails with an error.
int freePort()
{
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    const bool found = socket >= 0 && ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    const int failure = errno;
    if (socket >= 0)
        ::close(socket);
    if (!found)
        profiler::throwError<"ranks.no_port", "No TCP port can be opened for the ranks of this training: {why}">(
            Error::Code::Unavailable, "127.0.0.1", {}, {{"why", std::strerror(failure)}});
    return ntohs(address.sin_port);
}

void setVariables(int rank, int size, int port)
{
    ::setenv("RANK", std::to_string(rank).c_str(), 1);
    ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
    ::setenv("WORLD_SIZE", std::to_string(size).c_str(), 1);
    ::setenv("MASTER_ADDR", "127.0.0.1", 1);
    ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
}

// Runs in the new process, between fork and exec.
[[noreturn]] void execTrainer(const std::vector<char*>& argv, int progress, pid_t parent)
{
    // No rank may outlive rank 0, however it ends.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        ::_exit(1);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::fcntl(progress, F_SETFD, 0);
    ::execv("/proc/self/exe", argv.data());
    ::_exit(127);
}

} // namespace

fs::path LocalRanks::traceOf(const fs::path& trace, int rank)
{
    if (rank == 0 || trace.empty())
        return trace;
    return trace.parent_path() / (trace.stem().string() + ".rank" + std::to_string(rank) + trace.extension().string());
}

bool LocalRanks::isRank()
{
    return std::getenv("RANK") && std::getenv("WORLD_SIZE");
}

LocalRanks::LocalRanks(int size, const std::vector<std::string>& arguments, const fs::path& trace, Listener listener,
                       DeathListener deathListener)
    : m_listener(std::move(listener)), m_deathListener(std::move(deathListener))
{
    const int port = freePort();
    for (int rank = 1; rank < size; ++rank)
        start(rank, size, port, arguments, trace);
    setVariables(0, size, port);
    m_thread = std::thread([this] { watch(); });
}

LocalRanks::~LocalRanks()
{
    m_ending = true;
    m_thread.join();
    if (m_reporting.joinable())
        m_reporting.join();
}

void LocalRanks::start(int rank, int size, int port, const std::vector<std::string>& arguments, const fs::path& trace)
{
    int progress[2];
    if (::pipe2(progress, O_CLOEXEC) != 0)
        profiler::throwError<"ranks.no_pipe", "A pipe for rank {rank} of this training cannot be created: {why}">(
            Error::Code::Unavailable, {}, "set parallel.local_ranks to a smaller number, or raise ulimit -n",
            {{"rank", rank}, {"why", std::strerror(errno)}});
    std::vector<std::string> commandLine = {"stepscope-train", "--progress-fd", std::to_string(progress[1])};
    commandLine.insert(commandLine.end(), arguments.begin(), arguments.end());
    if (!trace.empty())
        commandLine.insert(commandLine.end(), {"--trace", trace.string()});
    std::vector<char*> argv;
    for (std::string& word : commandLine)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    setVariables(rank, size, port);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    const int failure = errno;
    if (pid == 0)
        execTrainer(argv, progress[1], parent);
    ::close(progress[1]);
    if (pid < 0) {
        ::close(progress[0]);
        profiler::throwError<"ranks.no_process", "A process for rank {rank} of this training cannot be started: {why}">(
            Error::Code::Unavailable, {}, "set parallel.local_ranks to a smaller number, or raise ulimit -u",
            {{"rank", rank}, {"why", std::strerror(failure)}});
    }
    m_children.push_back({rank, pid, progress[0], {}, false});
}

std::optional<profiler::Message> LocalRanks::death() const
{
    const std::lock_guard lock(m_mutex);
    return m_death.empty() ? std::nullopt : std::optional(m_death);
}

void LocalRanks::wait()
{
    for (;;) {
        {
            const std::lock_guard lock(m_mutex);
            if (std::all_of(m_children.begin(), m_children.end(), [](const Child& child) { return child.ended; }))
                return;
        }
        ::poll(nullptr, 0, kPoll);
    }
}

void LocalRanks::read(Child& child)
{
    char buffer[4096];
    const ssize_t got = ::read(child.progress, buffer, sizeof(buffer));
    if (got <= 0) {
        ::close(child.progress);
        child.progress = -1;
        return;
    }
    child.pending.append(buffer, static_cast<std::size_t>(got));
    for (auto end = child.pending.find('\n'); end != std::string::npos; end = child.pending.find('\n')) {
        m_listener(child.rank, child.pending.substr(0, end));
        child.pending.erase(0, end + 1);
    }
}

void LocalRanks::noteEnd(Child& child, int state)
{
    while (child.progress >= 0) // reads its last output before handling its exit
        read(child);
    {
        const std::lock_guard lock(m_mutex);
        child.ended = true;
        if (!m_death.empty() || m_ending || (WIFEXITED(state) && WEXITSTATUS(state) == 0))
            return;
        m_death = WIFSIGNALED(state)
                      ? profiler::message<"training.rank_killed",
                                          "The training cannot continue: rank {rank} was killed by signal {signal}">(
                            {{"rank", child.rank}, {"signal", WTERMSIG(state)}})
                      : profiler::message<"training.rank_exited",
                                          "The training cannot continue: rank {rank} exited with status {status}">(
                            {{"rank", child.rank}, {"status", WEXITSTATUS(state)}});
    }
    reportDeath();
}

// Reports the death on a separate thread, so that the ranks are still watched and ended, however long the report takes.
void LocalRanks::reportDeath()
{
    try {
        m_reporting = std::thread(m_deathListener);
    } catch (const std::system_error&) { // no thread can be created
        m_deathListener();
    }
}

void LocalRanks::watch()
{
    for (bool alive = true; alive;) {
        std::vector<pollfd> watched;
        for (const Child& child : m_children)
            watched.push_back({child.progress, POLLIN, 0});
        ::poll(watched.data(), watched.size(), kPoll);
        alive = false;
        for (std::size_t i = 0; i < m_children.size(); ++i) {
            Child& child = m_children[i];
            if (child.progress >= 0 && watched[i].revents != 0)
                read(child);
            if (child.ended)
                continue;
            if (m_ending)
                ::kill(child.pid, SIGKILL);
            int state = 0;
            if (::waitpid(child.pid, &state, WNOHANG) == child.pid)
                noteEnd(child, state);
            else
                alive = true;
        }
    }
}

} // namespace trainer
