#include "app/terminal/interrupt.h"

#include <atomic>
#include <csignal>

namespace app::terminal {

namespace {

// A signal handler can access only globals, and may write only lock-free ones.
std::atomic<int> count{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void countInterrupt(int)
{
    count.fetch_add(1);
}

} // namespace

void catchInterrupts()
{
    // With the C library of Linux, a handler stays installed and interrupted calls continue.
    std::signal(SIGINT, countInterrupt);
    std::signal(SIGTERM, countInterrupt);
}

int interrupts()
{
    return count.load();
}

} // namespace app::terminal
