#include "app/terminal/interrupt.h"

#include <atomic>
#include <csignal>

namespace advisor::cli {

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
    struct sigaction action = {};
    action.sa_handler = countInterrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

int interrupts()
{
    return count.load();
}

} // namespace advisor::cli
