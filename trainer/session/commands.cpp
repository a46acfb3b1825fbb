#include "trainer/session/commands.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace trainer {

namespace protocol = config::protocol;

namespace {

// Signal handlers can only reach globals.
std::atomic<int> signalWake{-1};

extern "C" void wakeBySignal(int)
{
    const int saved = errno;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(signalWake.load(), &one, sizeof(one));
    errno = saved;
}

void catchSignals(int wake)
{
    signalWake.store(wake);
    struct sigaction action = {};
    action.sa_handler = wakeBySignal;
    // Only once: a user who sends the signal a second time does not want to wait for the end of the step.
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

} // namespace

Commands::Commands(int descriptor, bool inputEndsRun) : m_wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    catchSignals(m_wake);
    // The kernel stops a background process that reads its terminal.
    const int input = isatty(descriptor) == 1 ? -1 : descriptor;
    m_reader = std::thread([this, input, inputEndsRun] { read(input, inputEndsRun); });
}

Commands::~Commands()
{
    m_ending = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(m_wake, &one, sizeof(one));
    m_reader.join();
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    signalWake.store(-1);
    ::close(m_wake);
}

void Commands::read(int descriptor, bool inputEndsRun)
{
    std::string pending;
    std::array<pollfd, 2> watched = {pollfd{m_wake, POLLIN, 0}, pollfd{descriptor, POLLIN, 0}};
    while (!m_ending) {
        if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
            return;
        std::uint64_t count = 0;
        if ((watched[0].revents & POLLIN) && ::read(m_wake, &count, sizeof(count)) > 0 && !m_ending)
            put(protocol::Stop{});
        if (watched[1].revents == 0)
            continue;
        std::array<char, 4096> buffer{};
        const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
        if (got > 0) {
            pending.append(buffer.data(), static_cast<std::size_t>(got));
            readLines(pending);
        } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
            watched[1].fd = -1; // poll() ignores negative descriptors
            if (inputEndsRun)
                put(protocol::Stop{});
        }
    }
}

void Commands::readLines(std::string& pending)
{
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
        const std::string line = pending.substr(0, end);
        pending.erase(0, end + 1);
        if (line.find_first_not_of(" \t\r") == std::string::npos)
            continue;
        if (auto command = protocol::parseCommand(line)) {
            put(std::move(*command));
        } else {
            const std::lock_guard lock(m_mutex);
            m_complaints.push_back(std::move(command.error()));
        }
    }
}

void Commands::put(Command command)
{
    if (std::holds_alternative<protocol::Stop>(command))
        m_stop.request_stop();
    {
        const std::lock_guard lock(m_mutex);
        m_commands.push_back(std::move(command));
    }
    m_arrived.notify_one();
}

std::optional<Commands::Command> Commands::take()
{
    const std::lock_guard lock(m_mutex);
    if (m_commands.empty())
        return std::nullopt;
    Command command = std::move(m_commands.front());
    m_commands.pop_front();
    return command;
}

Commands::Command Commands::wait()
{
    std::unique_lock lock(m_mutex);
    m_arrived.wait(lock, [&] { return !m_commands.empty(); });
    Command command = std::move(m_commands.front());
    m_commands.pop_front();
    return command;
}

std::optional<std::string> Commands::takeComplaint()
{
    const std::lock_guard lock(m_mutex);
    if (m_complaints.empty())
        return std::nullopt;
    std::string complaint = std::move(m_complaints.front());
    m_complaints.pop_front();
    return complaint;
}

} // namespace trainer
