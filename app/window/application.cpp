#include "app/window/application.h"

#include <array>
#include <csignal>
#include <cstring>
#include <new>

namespace app {

namespace {

constexpr std::size_t kReserve = std::size_t{4} << 20; ///< bytes: enough to lay out and paint a notice strip

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};

} // namespace

Application::Application(int& argc, char** argv) : QApplication(argc, argv)
{
    keepReserve();
}

Application::~Application() = default;

void Application::keepReserve()
{
    m_reserve.reset(new (std::nothrow) std::byte[kReserve]);
    if (m_reserve)
        std::memset(m_reserve.get(), 1, kReserve); // touch the pages, because unwritten pages are not allocated
}

bool Application::notify(QObject* receiver, QEvent* event)
{
    try {
        return QApplication::notify(receiver, event);
    } catch (const std::bad_alloc&) {
        m_reserve.reset();
        QMetaObject::invokeMethod(
            this,
            [this] {
                emit outOfMemory();
                keepReserve();
            },
            Qt::QueuedConnection);
        return true;
    }
}

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
