#pragma once

#include "profiler/os/signals.h"

#include <QObject>
#include <QSocketNotifier>
#include <memory>

namespace app {

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
