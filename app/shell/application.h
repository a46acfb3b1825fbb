#pragma once

#include <QApplication>
#include <cstddef>
#include <memory>

namespace app {

/// The application object. Where memory runs out while an event is handled, the event is given up and the app stays
/// alive.
class Application : public QApplication {
    Q_OBJECT
public:
    Application(int& argc, char** argv);
    ~Application() override;

    bool notify(QObject* receiver, QEvent* event) override;

signals:
    /// An event was given up. Emitted from the event loop, when what the event had allocated is free again.
    void outOfMemory();

private:
    void keepReserve();

    std::unique_ptr<std::byte[]> m_reserve; ///< freed when memory runs out, so that the user can be told
};

} // namespace app
