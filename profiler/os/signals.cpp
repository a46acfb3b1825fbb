#include "profiler/os/signals.h"

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <sys/eventfd.h>
#include <unistd.h>

namespace profiler::os {

namespace {

ReceivedSignal received(const siginfo_t& info)
{
    const bool isFromProcess = info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL;
    return {.number = info.si_signo,
            .isFromKernel = info.si_code == SI_KERNEL,
            .sender = isFromProcess ? info.si_pid : 0}; // 0 also for a process in another pid namespace
}

void writeOne(int event)
{
    const std::uint64_t one = 1;
    static_cast<void>(!::write(event, &one, sizeof one)); // fails only if the counter is full, which is readable too
}

std::atomic<int> watchEvent{-1};
static_assert(std::atomic<int>::is_always_lock_free); // for the handler

extern "C" void noteSignal(int)
{
    const int saved = errno;
    writeOne(watchEvent.load());
    errno = saved;
}

} // namespace

BlockedSignals::BlockedSignals()
{
    sigfillset(&m_signals);
    ::pthread_sigmask(SIG_SETMASK, &m_signals, &m_before);
    m_after = m_before;
}

BlockedSignals::BlockedSignals(std::span<const int> signals)
{
    sigemptyset(&m_signals);
    for (const int signal : signals)
        sigaddset(&m_signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &m_signals, &m_before);
    m_after = m_before;
}

BlockedSignals::~BlockedSignals()
{
    ::pthread_sigmask(SIG_SETMASK, &m_after, nullptr);
}

std::optional<ReceivedSignal> BlockedSignals::wait() const
{
    siginfo_t info{};
    return ::sigwaitinfo(&m_signals, &info) > 0 ? std::optional(received(info)) : std::nullopt;
}

std::optional<ReceivedSignal> BlockedSignals::take() const
{
    constexpr timespec kNow{};
    siginfo_t info{};
    return ::sigtimedwait(&m_signals, &info, &kNow) > 0 ? std::optional(received(info)) : std::nullopt;
}

void BlockedSignals::keepBlocked(std::span<const int> signals)
{
    for (const int signal : signals)
        sigaddset(&m_after, signal);
}

SignalWatch::SignalWatch(std::span<const int> signals, Ignored ignored)
    : m_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!m_event)
        return;
    watchEvent.store(m_event.get());
    std::size_t used = 0;
    for (const int signal : signals) {
        Handled& handled = m_handled.at(used);
        if (::sigaction(signal, nullptr, &handled.before) != 0 ||
            (ignored == Ignored::Keep && handled.before.sa_handler == SIG_IGN))
            continue;
        handled.number = signal;
        ++used;
        struct sigaction action {};
        action.sa_handler = noteSignal;
        action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
        sigemptyset(&action.sa_mask);
        ::sigaction(signal, &action, nullptr);
    }
}

SignalWatch::~SignalWatch()
{
    for (const Handled& handled : m_handled)
        if (handled.number != 0)
            ::sigaction(handled.number, &handled.before, nullptr);
    if (m_event)
        watchEvent.store(-1);
}

void SignalWatch::wake() const
{
    writeOne(m_event.get());
}

bool SignalWatch::take() const
{
    std::uint64_t count = 0;
    return ::read(m_event.get(), &count, sizeof count) == sizeof count;
}

} // namespace profiler::os
