#pragma once

#include "app/terminal/interrupt.h"

#include <chrono>
#include <stop_token>
#include <thread>

namespace app::terminal {

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
