#include "app/window/application.h"

#include <cstring>
#include <new>

namespace app {

namespace {
constexpr std::size_t kReserve = std::size_t{4} << 20; ///< bytes: enough to lay out and paint a notice strip
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

} // namespace app
