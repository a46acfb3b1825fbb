#pragma once

#include <QObject>
#include <QSocketNotifier>
#include <array>
#include <csignal>
#include <memory>

namespace app {

/// Reports in the event loop that the process was asked to end from outside: Ctrl-C in its terminal, a closed terminal,
/// a logout. A second signal of the same kind ends the process at once, as without this class. Only one instance may
/// exist at a time. GUI thread.
class EndSignals : public QObject {
    Q_OBJECT
public:
    EndSignals();
    /// Restores the previous signal handlers.
    ~EndSignals() override;

signals:
    void asked();

private:
    struct Handled {
        int number;
        struct sigaction before;
    };
    std::array<Handled, 3> m_handled;
    std::unique_ptr<QSocketNotifier> m_heard;
};

} // namespace app
