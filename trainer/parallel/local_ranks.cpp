#include "trainer/parallel/local_ranks.h"

#include "profiler/model/result.h"
#include "profiler/os/connections.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace trainer {

namespace fs = std::filesystem;
namespace os = profiler::os;
using profiler::Error;

namespace {

constexpr std::chrono::milliseconds kPoll{50}; // between two checks of the child processes

// Another process may take the port before rank 0 listens: then joining fails with an error.
int portForRanks()
{
    const int port = os::freePort();
    if (port == 0)
        profiler::throwError<"ranks.no_port", "No TCP port can be opened for the ranks of this training: {why}">(
            Error::Code::Unavailable, "127.0.0.1", {}, {{"why", std::strerror(errno)}});
    return port;
}

void setVariables(int rank, int size, int port)
{
    ::setenv("RANK", std::to_string(rank).c_str(), 1);
    ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
    ::setenv("WORLD_SIZE", std::to_string(size).c_str(), 1);
    ::setenv("MASTER_ADDR", "127.0.0.1", 1);
    ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
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
    const int port = portForRanks();
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
    auto progress = os::makePipe();
    if (!progress)
        profiler::throwError<"ranks.no_pipe", "A pipe for rank {rank} of this training cannot be created: {why}">(
            Error::Code::Unavailable, {}, "set parallel.local_ranks to a smaller number, or raise ulimit -n",
            {{"rank", rank}, {"why", std::strerror(errno)}});
    // No rank may outlive rank 0, however it ends.
    os::ChildSpec spec{.program = "/proc/self/exe",
                       .words = {"stepscope-train", "--progress-fd", std::to_string(progress->writing.get())},
                       .hasInput = false,
                       .inherited = {progress->writing.get()},
                       .endsWithThread = true};
    spec.words.insert(spec.words.end(), arguments.begin(), arguments.end());
    if (!trace.empty())
        spec.words.insert(spec.words.end(), {"--trace", trace.string()});
    setVariables(rank, size, port);
    const auto process = os::startChild(spec);
    if (!process)
        profiler::throwError<"ranks.no_process", "A process for rank {rank} of this training cannot be started: {why}">(
            Error::Code::Unavailable, {}, "set parallel.local_ranks to a smaller number, or raise ulimit -u",
            {{"rank", rank}, {"why", std::strerror(errno)}});
    m_children.push_back({rank, *process, std::move(progress->reading), {}, false});
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
        std::this_thread::sleep_for(kPoll);
    }
}

void LocalRanks::read(Child& child)
{
    if (!os::readNext(child.progress.get(), child.pending)) {
        child.progress.reset();
        return;
    }
    for (auto end = child.pending.find('\n'); end != std::string::npos; end = child.pending.find('\n')) {
        m_listener(child.rank, child.pending.substr(0, end));
        child.pending.erase(0, end + 1);
    }
}

void LocalRanks::noteEnd(Child& child, const os::ExitStatus& end)
{
    while (child.progress) // reads its last output before handling its exit
        read(child);
    {
        const std::lock_guard lock(m_mutex);
        child.ended = true;
        if (!m_death.empty() || m_ending || end.isSuccess())
            return;
        m_death = end.signal != 0
                      ? profiler::message<"training.rank_killed",
                                          "The training cannot continue: rank {rank} was killed by signal {signal}">(
                            {{"rank", child.rank}, {"signal", end.signal}})
                      : profiler::message<"training.rank_exited",
                                          "The training cannot continue: rank {rank} exited with status {status}">(
                            {{"rank", child.rank}, {"status", end.status}});
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
        std::vector<os::Awaited> awaited;
        for (const Child& child : m_children)
            awaited.push_back({child.progress.get()});
        os::waitForAny(awaited, kPoll);
        alive = false;
        for (std::size_t i = 0; i < m_children.size(); ++i) {
            Child& child = m_children[i];
            if (awaited[i].isReady)
                read(child);
            if (child.ended)
                continue;
            if (m_ending)
                os::sendSignal(child.process, SIGKILL);
            if (const auto end = os::reapChild(child.process))
                noteEnd(child, *end);
            else
                alive = true;
        }
    }
}

using profiler::Result;

Result<std::string> addressTowards(const std::string& host)
{
    std::string why;
    std::string address = profiler::os::ownAddressTowards(host, why);
    if (address.empty())
        return profiler::fail<"ranks.unreachable", "This machine cannot reach {host}: {why}">(
            Error::Code::Unavailable, "MASTER_ADDR", "give the address of the host of rank 0",
            {{"host", host}, {"why", why}});
    return address;
}

Result<std::string> addressTowardsAnywhere()
{
    return addressTowards("198.51.100.1"); // from RFC 5737: no machine has this address
}

bool isLoopback(const std::string& address)
{
    return address.starts_with("127.") || address == "::1";
}

} // namespace trainer
