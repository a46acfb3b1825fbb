#include "app/window/end_signals.h"

#include <array>
#include <csignal>

namespace app {

namespace {

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};

} // namespace

EndSignals::EndSignals() : m_watch(kEnding, profiler::os::SignalWatch::Ignored::Keep)
{
    if (m_watch.descriptor() < 0)
        return; // a signal has its default action, which ends the process at once
    m_heard = std::make_unique<QSocketNotifier>(m_watch.descriptor(), QSocketNotifier::Read);
    connect(m_heard.get(), &QSocketNotifier::activated, this, [this] {
        if (m_watch.take())
            emit asked();
    });
}

} // namespace app
