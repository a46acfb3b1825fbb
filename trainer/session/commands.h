#pragma once

#include "profiler/os/signals.h"
#include "trainer/config/protocol.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace trainer {

/// Commands from stdin, read on a separate thread, and SIGINT and SIGTERM, which count as Stop. The second signal of a
/// kind ends the process at once. One object per process.
class Commands {
public:
    using Command = config::protocol::Command;

    /// Installs the signal handlers and starts reading `descriptor`. Terminals are not read: they belong to the user's
    /// shell.
    /// @param inputEndsRun  the end of the input counts as Stop: for a trainer that only serves the program that
    /// started it
    Commands(int descriptor, bool inputEndsRun);
    ~Commands();
    Commands(const Commands&) = delete;
    Commands& operator=(const Commands&) = delete;

    /// Removes and returns the oldest pending command.
    std::optional<Command> take();
    /// The same, but waits for a command.
    Command wait();
    /// True as soon as a Stop arrives or a signal is caught; take() also returns that Stop in its turn.
    [[nodiscard]] bool stopRequested() const { return m_stop.stop_requested(); }
    [[nodiscard]] std::stop_token stopToken() const { return m_stop.get_token(); }
    /// Error messages for lines that are not commands; each is returned once.
    std::optional<std::string> takeComplaint();

private:
    void read(int descriptor, bool inputEndsRun);
    void readLines(std::string& pending);
    void put(Command command);

    mutable std::mutex m_mutex; // never held while reading or waiting for input
    std::condition_variable m_arrived;
    std::deque<Command> m_commands;
    std::deque<std::string> m_complaints;
    std::stop_source m_stop;
    profiler::os::SignalWatch m_signals; // also woken by the destructor
    std::atomic<bool> m_ending = false;
    std::thread m_reader;
};

} // namespace trainer
