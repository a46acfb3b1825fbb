#pragma once

#include "profiler/os/signals.h"

#include <QApplication>
#include <QObject>
#include <QSocketNotifier>
#include <cstddef>
#include <memory>

/// What can happen to the process: it runs out of memory, or it is asked to end from outside.
namespace app {

/// The application object. If memory runs out while an event is handled, the event is dropped and the app stays alive.
class Application : public QApplication {
    Q_OBJECT
public:
    Application(int& argc, char** argv);
    ~Application() override;

    bool notify(QObject* receiver, QEvent* event) override;

signals:
    /// An event was dropped. Emitted from the event loop after its allocations were freed.
    void outOfMemory();

private:
    void keepReserve();

    std::unique_ptr<std::byte[]> m_reserve; ///< memory reserve, freed when memory runs out so that the user can be
                                            ///< informed
};

/// Reports in the event loop that the process was asked to end from outside: Ctrl-C in its terminal, a closed terminal,
/// a logout. A second signal of the same kind ends the process at once, as without this class. Only one instance may
/// exist at a time. GUI thread.
class EndSignals : public QObject {
    Q_OBJECT
public:
    EndSignals();

signals:
    void asked();

private:
    profiler::os::SignalWatch m_watch;
    std::unique_ptr<QSocketNotifier> m_heard;
};

} // namespace app
