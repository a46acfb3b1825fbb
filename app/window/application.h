#pragma once

#include <QApplication>
#include <cstddef>
#include <memory>

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

} // namespace app
