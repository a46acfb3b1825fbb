#include "app/window/end_signals.h"

#include <cerrno>
#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace app {

namespace {

int signalFd = -1; ///< an eventfd: a signal handler may do little more than write

void tell(int)
{
    const int error = errno;
    const std::uint64_t one = 1;
    static_cast<void>(::write(signalFd, &one, sizeof one) == 0);
    errno = error;
}

} // namespace

EndSignals::EndSignals() : m_handled{{{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}}}
{
    signalFd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (signalFd < 0)
        return; // restores the default action, which ends the process at once
    m_heard = std::make_unique<QSocketNotifier>(signalFd, QSocketNotifier::Read);
    connect(m_heard.get(), &QSocketNotifier::activated, this, [this] {
        std::uint64_t times = 0;
        if (::read(signalFd, &times, sizeof times) == sizeof times)
            emit asked();
    });
    for (Handled& handled : m_handled) {
        ::sigaction(handled.number, nullptr, &handled.before);
        if (handled.before.sa_handler == SIG_IGN) // nohup
            continue;
        struct sigaction action {};
        action.sa_handler = tell;
        action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
        sigemptyset(&action.sa_mask);
        ::sigaction(handled.number, &action, nullptr);
    }
}

EndSignals::~EndSignals()
{
    if (signalFd < 0)
        return;
    for (const Handled& handled : m_handled)
        ::sigaction(handled.number, &handled.before, nullptr);
    m_heard.reset();
    ::close(signalFd);
    signalFd = -1;
}

} // namespace app
