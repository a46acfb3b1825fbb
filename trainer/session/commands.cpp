#include "trainer/session/commands.h"

#include "profiler/os/connections.h"

#include <array>
#include <csignal>

namespace trainer {

namespace protocol = config::protocol;
namespace os = profiler::os;

Commands::Commands(int descriptor, bool inputEndsRun)
    : m_signals(std::array{SIGINT, SIGTERM}, os::SignalWatch::Ignored::Catch)
{
    // The kernel stops a background process that reads its terminal.
    const int input = os::isTerminal(descriptor) ? -1 : descriptor;
    m_reader = std::thread([this, input, inputEndsRun] { read(input, inputEndsRun); });
}

Commands::~Commands()
{
    m_ending = true;
    m_signals.wake();
    m_reader.join();
}

void Commands::read(int descriptor, bool inputEndsRun)
{
    std::string pending;
    std::array awaited = {os::Awaited{m_signals.descriptor()}, os::Awaited{descriptor}};
    while (!m_ending) {
        os::waitForAny(awaited, std::nullopt);
        if (awaited[0].isReady && m_signals.take() && !m_ending)
            put(protocol::Stop{});
        if (!awaited[1].isReady)
            continue;
        const bool isOpen = os::readNext(descriptor, pending);
        readLines(pending);
        if (!isOpen) {
            awaited[1].descriptor = -1;
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
