#pragma once

#include <chrono>
#include <stop_token>
#include <thread>

/// Ctrl-C while a command works.
namespace app::terminal {

/// From now on, SIGINT (Ctrl-C) and SIGTERM are counted and no longer end the process.
void catchInterrupts();
/// The number of these signals so far.
int interrupts();

/// Requests a stop after Ctrl-C was caught, because a signal handler must not do so itself. Stops with its owner.
class InterruptWatch {
public:
    explicit InterruptWatch(std::stop_source& stop)
        : m_thread([&stop](const std::stop_token& ended) {
              while (!ended.stop_requested() && interrupts() == 0)
                  std::this_thread::sleep_for(std::chrono::milliseconds(50));
              if (interrupts() > 0)
                  stop.request_stop();
          })
    {
    }

private:
    std::jthread m_thread;
};

} // namespace app::terminal
