#pragma once

#include <QObject>
#include <QSocketNotifier>
#include <array>
#include <csignal>
#include <memory>

namespace app {

/// Tells in the event loop when the process is asked to end from outside: Ctrl-C in its terminal, the terminal's end, a
/// logout. The second time of a signal ends the process at once, as without this. One at a time; GUI thread.
class EndSignals : public QObject {
    Q_OBJECT
public:
    EndSignals();
    /// Puts back what the signals did before.
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
