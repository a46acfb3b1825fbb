#pragma once

#include <QObject>
#include <QPointer>
#include <functional>
#include <vector>

class QAction;
class QDockWidget;
class QMainWindow;
class QMenu;
class QWidget;

namespace app {

/// What the keyboard does with the docks of a window: each is shown and hidden, and the one that has the focus is
/// floated, put back and closed. The focus is never left in what is not seen. GUI thread.
class DockHands : public QObject {
    Q_OBJECT
public:
    /// @param elsewhere  gives the focus to what is seen in the middle of the window, where no dock takes it
    DockHands(QMainWindow* window, std::function<void()> elsewhere);

    /// Its actions for the View menu: all docks that can be shown, in their order, then what is done with the one that
    /// has the focus.
    void addTo(QMenu* menu, const std::vector<QDockWidget*>& docks);
    /// Shows it in front of those behind its tabs, and gives it the focus.
    static void reveal(QDockWidget* dock);

private:
    void follow(QWidget* focus);
    void showState();
    void toggleFloating();
    void closeCurrent();

    QMainWindow* m_window;
    std::function<void()> m_elsewhere;
    QAction *m_float, *m_close;
    QPointer<QDockWidget> m_current; ///< it has the focus, or had it before a menu took it
};

} // namespace app
